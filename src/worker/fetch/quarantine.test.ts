import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { Quarantine } from './quarantine.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const JOB = { id: '7' } as ClaimedJob

function room(operations: { job?: ClaimedJob; clears?: boolean; throws?: boolean }) {
  const done: string[] = []
  const suspects = new Quarantine({
    claim: async () => {
      if (!operations.job) done.push('claim in vain')
      return operations.job
    },
    clear: async () => {
      done.push('clear')
      return operations.clears ?? true
    },
    run: async (job) => {
      done.push(`run ${job.id}`)
      if (operations.throws) throw new Error('went wrong')
    },
    giveBack: (job) => void done.push(`give back ${job.id}`),
    reopen: () => void done.push('reopen'),
    onFault: (doing) => void done.push(`fault ${doing}`),
  })
  return { suspects, done }
}

test('a suspect runs when the worker is empty, and the worker reopens after it', async () => {
  const { suspects, done } = room({ job: JOB })
  await suspects.runOnce()

  expect(done).toEqual(['clear', 'run 7', 'reopen'])
})

test('without a suspect the worker is not emptied', async () => {
  const { suspects, done } = room({})
  await suspects.runOnce()

  expect(done).toEqual(['claim in vain'])
})

test('a worker that stays busy gives the suspect back and goes on', async () => {
  const { suspects, done } = room({ job: JOB, clears: false })
  await suspects.runOnce()

  expect(done).toEqual(['clear', 'give back 7', 'reopen'])
})

test('a fault does not leave the worker closed', async () => {
  const { suspects, done } = room({ job: JOB, throws: true })
  await suspects.runOnce()

  expect(done).toEqual(['clear', 'run 7', 'reopen', 'fault running a suspect alone'])
})

test('after a suspect that ran the next one follows without being told', async () => {
  const operations: { job?: ClaimedJob } = { job: JOB }
  const { suspects, done } = room(operations)
  suspects.expect()
  await vi.advanceTimersByTimeAsync(199)
  expect(done).toEqual(['clear', 'run 7', 'reopen'])
  delete operations.job

  await vi.advanceTimersByTimeAsync(1)

  expect(done).toEqual(['clear', 'run 7', 'reopen', 'claim in vain'])
  await suspects.stop()
})

test('whoever is told of a suspect that it cannot claim rests before it tries again', async () => {
  const { suspects, done } = room({})
  for (const ms of [0, 3000, 1999, 1]) {
    await vi.advanceTimersByTimeAsync(ms)
    suspects.expect()
  }
  await vi.advanceTimersByTimeAsync(0)

  expect(done).toEqual(['claim in vain', 'claim in vain'])
  await suspects.stop()
})
