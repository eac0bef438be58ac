import { expect, test } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { completed } from '../../domain/job/outcome.js'
import type { Store } from '../../store/store.js'
import { type Ended, Settler } from './settler.js'

/** A settler whose writes wait until the test answers them. All jobs are steps, so that no store is asked. */
function settler() {
  const writes: { readonly ids: string[]; answer(): Promise<void> }[] = []
  const settled: string[] = []
  const subject = new Settler({} as Store, {
    onSettled: ({ job }, verdict) => settled.push(`${job.id} ${verdict}`),
    onFault: (_, error) => {
      throw error
    },
    completeSteps: (batch) =>
      new Promise((resolve) => {
        const answer = async () => {
          resolve(batch.map(() => true))
          await turn()
        }
        writes.push({ ids: batch.map(({ job }) => job.id), answer })
      }),
  })
  return { subject, writes, settled }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

const ended = (n: number): Ended => ({
  job: { id: String(n), pipelineId: 'p' } as ClaimedJob,
  outcome: completed('null'),
  ms: 1,
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
