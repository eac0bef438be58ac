// A queue fetcher whose claims, runs and sleeps wait until the test answers them.

import { vi } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { Cursor } from '../../store/jobs/claim.js'
import { QueueFetcher } from './queue-fetcher.js'

export const job = (n: number) => ({ id: String(n) }) as ClaimedJob

interface Ask {
  readonly from: Cursor
  readonly n: number
  answer(jobs: ClaimedJob[], hasMore?: boolean): Promise<void>
  fail(error: Error): Promise<void>
}

export const positionOf = (jobId: string): Cursor => ({ priority: 5, runAt: `at ${jobId}`, jobId })

export function queueFetcher(slots: number, { share = 1 } = {}) {
  const asks: Ask[] = []
  const runs = new Map<string, () => Promise<void>>()
  const naps: (() => Promise<void>)[] = []
  const faults: unknown[] = []
  const released: string[] = []
  const load = { share }
  const subject = new QueueFetcher('bulk', slots, {
    claimer: {
      claim: (queueSlots, n, from) =>
        new Promise((resolve, reject) => {
          const answer = (jobs: ClaimedJob[], hasMore = false) =>
            settle(() => {
              queueSlots.add(jobs)
              resolve({ count: jobs.length, cursor: positionOf(jobs.at(-1)?.id ?? from.jobId), hasMore })
            })
          asks.push({ n, from, answer, fail: (error) => settle(() => reject(error)) })
        }),
    },
    jobs: {
      start: ({ id }, startedAt, slot) =>
        void runs.set(id, () => settle(() => slot.freed(startedAt, performance.now()))),
      release: (jobs) => void released.push(...jobs.map(({ id }) => id)),
    },
    wakeUp: { sleep: () => new Promise<void>((resolve) => naps.push(() => settle(resolve))) },
    load,
    onFault: (doing, error) => faults.push([doing, error]),
  })
  const end = async (id: string) => {
    const run = runs.get(id)
    runs.delete(id)
    await run?.()
  }
  const nextAsk = () => asks.shift() as Ask
  return { subject, asks, nextAsk, runs, end, naps, faults, released, load }
}

/** Does it, and lets everything that follows from it happen. */
export async function settle(act: () => void): Promise<void> {
  act()
  await vi.advanceTimersByTimeAsync(0)
}
