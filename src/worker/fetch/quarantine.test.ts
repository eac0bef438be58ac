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

function quarantine(operations: { job?: ClaimedJob; clears?: boolean; throws?: boolean }) {
  const done: string[] = []
  const subject = new Quarantine({
    claim: async () => {
      if (!operations.job) done.push('claim nothing')
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
    release: (job) => void done.push(`release ${job.id}`),
    reopen: () => void done.push('reopen'),
    onFault: (doing) => void done.push(`fault ${doing}`),
  })
  return { subject, done }
}

test('a quarantined job runs when the worker is empty, and the worker reopens after it', async () => {
  const { subject, done } = quarantine({ job: JOB })
  await subject.runOnce()

  expect(done).toEqual(['clear', 'run 7', 'reopen'])
})

test('without a quarantined job the worker is not emptied', async () => {
  const { subject, done } = quarantine({})
  await subject.runOnce()

  expect(done).toEqual(['claim nothing'])
})

test('a worker that stays busy releases the quarantined job and continues', async () => {
  const { subject, done } = quarantine({ job: JOB, clears: false })
  await subject.runOnce()

  expect(done).toEqual(['clear', 'release 7', 'reopen'])
})

test('a fault does not leave the worker closed', async () => {
  const { subject, done } = quarantine({ job: JOB, throws: true })
  await subject.runOnce()

  expect(done).toEqual(['clear', 'run 7', 'reopen', 'fault running a quarantined job alone'])
})

test('after a quarantined job that ran the next one follows by itself', async () => {
  const operations: { job?: ClaimedJob } = { job: JOB }
  const { subject, done } = quarantine(operations)
  subject.expect()
  await vi.advanceTimersByTimeAsync(199)
  expect(done).toEqual(['clear', 'run 7', 'reopen'])
  delete operations.job

  await vi.advanceTimersByTimeAsync(1)

  expect(done).toEqual(['clear', 'run 7', 'reopen', 'claim nothing'])
  await subject.stop()
})

test('a worker that cannot claim a quarantined job rests before it tries again', async () => {
  const { subject, done } = quarantine({})
  for (const ms of [0, 3000, 1999, 1]) {
    await vi.advanceTimersByTimeAsync(ms)
    subject.expect()
  }
  await vi.advanceTimersByTimeAsync(0)

  expect(done).toEqual(['claim nothing', 'claim nothing'])
  await subject.stop()
})
