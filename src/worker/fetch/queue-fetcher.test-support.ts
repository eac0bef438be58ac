// A lane whose operations wait until the test answers them, for the tests of lanes.

import { vi } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { Cursor, Look } from '../../store/jobs/claim.js'
import { QueueFetcher } from './queue-fetcher.js'

export const job = (n: number) => ({ id: String(n) }) as ClaimedJob

interface Ask extends Look {
  readonly n: number
  answer(jobs: ClaimedJob[], hasMore?: boolean): Promise<void>
  fail(error: Error): Promise<void>
}

export const positionOf = (jobId: string): Cursor => ({ priority: 5, runAt: `at ${jobId}`, jobId })

/** A lane whose claims, runs and sleeps wait until the test answers them. */
export function lane(slots: number, { share = 1 } = {}) {
  const asks: Ask[] = []
  const runs = new Map<string, () => Promise<void>>()
  const naps: (() => Promise<void>)[] = []
  const faults: unknown[] = []
  const returned: string[] = []
  const load = { share }
  const subject = new QueueFetcher('bulk', slots, {
    claim: (_, n, look) =>
      new Promise((resolve, reject) => {
        asks.push({
          n,
          ...look,
          answer: (jobs, hasMore = false) =>
            settle(() => resolve({ jobs, cursor: positionOf(jobs.at(-1)?.id ?? look.from.jobId), hasMore })),
          fail: (error) => settle(() => reject(error)),
        })
      }),
    run: ({ id }, startedAt, owner) => void runs.set(id, () => settle(() => owner.freed(startedAt, performance.now()))),
    giveBack: (jobs) => void returned.push(...jobs.map(({ id }) => id)),
    sleep: () => new Promise((resolve) => naps.push(() => settle(resolve))),
    share: () => load.share,
    onFault: (doing, error) => faults.push([doing, error]),
  })
  const end = async (id: string) => {
    const run = runs.get(id)
    runs.delete(id)
    await run?.()
  }
  const nextAsk = () => asks.shift() as Ask
  return { subject, asks, nextAsk, runs, end, naps, faults, returned, load }
}

/** Does it, and lets everything that follows from it happen. */
export async function settle(act: () => void): Promise<void> {
  act()
  await vi.advanceTimersByTimeAsync(0)
}
