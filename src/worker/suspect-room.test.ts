import { expect, test } from 'vitest'
import type { ClaimedJob } from '../domain/job.js'
import { SuspectRoom } from './suspect-room.js'

const JOB = { id: '7' } as ClaimedJob

function room(deeds: { job?: ClaimedJob; clears?: boolean; throws?: boolean }) {
  const done: string[] = []
  const suspects = new SuspectRoom({
    claim: async () => deeds.job,
    clear: async () => {
      done.push('clear')
      return deeds.clears ?? true
    },
    run: async (job) => {
      done.push(`run ${job.id}`)
      if (deeds.throws) throw new Error('went wrong')
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

  expect(done).toEqual([])
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
