import { expect, test } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { completed } from '../../domain/run/outcome.js'
import { type EndedRun, Settler, type Writer } from './settler.js'

/** A settler whose writes wait until the test answers them. */
function settler() {
  const writes: { readonly ids: string[]; answer(): Promise<void> }[] = []
  const settled: string[] = []
  const write: Writer['write'] = (batch) =>
    new Promise((resolve) => {
      const answer = async () => {
        resolve(batch.map(() => true))
        await turn()
      }
      writes.push({ ids: batch.map(({ job }) => job.id), answer })
    })
  const onSettled = ({ job }: EndedRun, isWritten: boolean) => void settled.push(`${job.id} ${isWritten}`)
  const onFault = (_: string, error: unknown) => {
    throw error
  }
  const subject = new Settler({ write }, { onSettled, onFault })
  return { subject, writes, settled }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

const ended = (n: number): EndedRun => ({
  job: { id: String(n), pipelineId: 'p' } as ClaimedJob,
  outcome: completed('null'),
  ms: 1,
  done: undefined,
})

test('outcomes of one moment are written together, and those that come meanwhile after them', async () => {
  const { subject, writes, settled } = settler()
  subject.push(ended(1))
  subject.push(ended(2))
  await turn()
  subject.push(ended(3))

  expect(writes.map(({ ids }) => ids)).toEqual([['1', '2']])
  await writes[0]?.answer()
  expect(settled).toEqual(['1 true', '2 true'])
  expect(writes.map(({ ids }) => ids)).toEqual([['1', '2'], ['3']])
})

test('runs wait while more than 4,000 outcomes are unwritten, and go on before all of them are', async () => {
  const { subject, writes } = settler()
  for (let n = 1; n <= 8000; n += 1) subject.push(ended(n))
  let hasCaughtUp = false
  void subject.backlog()?.then(() => {
    hasCaughtUp = true
  })
  await turn()
  expect([hasCaughtUp, writes.length]).toEqual([false, 1])

  await writes[0]?.answer()

  expect([hasCaughtUp, writes.length]).toEqual([true, 2])
  expect(subject.backlog()).toBeUndefined()
})

test('runs that fill it up again wait again', async () => {
  const { subject, writes } = settler()
  for (let n = 1; n <= 6000; n += 1) subject.push(ended(n))
  await subject.backlog()
  subject.push(ended(6001))
  let hasCaughtUp = false
  void subject.backlog()?.then(() => {
    hasCaughtUp = true
  })

  await turn()
  expect(hasCaughtUp).toBe(false)
  await writes[0]?.answer()
  expect(hasCaughtUp).toBe(true)
})

test('a new claim of a job waits until the outcome of its earlier claim is settled', async () => {
  const { subject, writes, settled } = settler()
  const [first, second] = [ended(1), ended(2)]
  subject.push(first)
  await turn()
  expect(subject.whenSettled([second.job])).toBeUndefined()
  const order: string[] = []
  const waiting = subject.whenSettled([first.job, second.job])?.then(() => order.push(...settled, 'started'))

  await writes[0]?.answer()
  await waiting

  expect(order).toEqual(['1 true', 'started'])
})

test('a worker that stops waits for no earlier outcome', async () => {
  const { subject } = settler()
  const first = ended(1)
  subject.push(first)
  const waiting = subject.whenSettled([first.job])

  subject.stopWaiting()

  await waiting
  expect(subject.whenSettled([first.job])).toBeUndefined()
})

test('an outcome that comes after the close is dropped', async () => {
  const { subject, writes, settled } = settler()
  subject.close()

  await new Promise<void>((done) => subject.push({ ...ended(1), done }))

  await turn()
  expect([writes, settled]).toEqual([[], []])
})
