// Waits until a job or a pipeline is final: by the events of this process, and by polling.

import { isHoldfastError } from '../domain/error/errors.js'
import { FINAL_STATES, type JobId, type JobState } from '../domain/job/job.js'
import { type Duration, durationMs } from '../domain/value/duration.js'
import type { EventHub } from '../observe/events.js'

export interface ResultOptions {
  readonly timeout?: Duration
  readonly signal?: AbortSignal
}

export interface Waiting<T> extends ResultOptions {
  readonly events: EventHub
  /** The job whose end is a reason to read at once. */
  readonly id: JobId | null
  read(): Promise<T>
  isFinal(seen: T): boolean
  /** What to throw when the time is over. */
  late(seen: T | undefined): Error
}

// A job that ends in this process is noticed at once; others are polled, less and less often.
const FIRST_WAIT_MS = 20
const LONGEST_WAIT_MS = 1000
// About half a minute without an answer.
const MOST_FAILURES = 30

export async function untilFinal<T>({ events, id, read, isFinal, late, timeout, signal }: Waiting<T>): Promise<T> {
  const deadline = timeout === undefined ? undefined : performance.now() + durationMs(timeout, 'timeout')
  const finished = finishedHere(events, id)
  let failures = 0
  try {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      signal?.throwIfAborted()
      const seen = await read().catch((error) => {
        // The database may be back at the next read; `timeout` limits the wait.
        if (!isHoldfastError(error, 'CONNECTION_FAILED') || ++failures > MOST_FAILURES) throw error
        return undefined
      })
      if (seen !== undefined) failures = 0
      if (seen !== undefined && isFinal(seen)) return seen
      const left = deadline === undefined ? Number.POSITIVE_INFINITY : deadline - performance.now()
      if (left <= 0) throw late(seen)
      await finished.within(Math.min(wait, left), signal)
    }
  } finally {
    finished.forget()
  }
}

export function isFinalState(state: JobState): boolean {
  return (FINAL_STATES as readonly JobState[]).includes(state)
}

function finishedHere(events: EventHub, id: JobId | null) {
  let wake = () => {}
  let happened = false
  const heard = (event: { id: JobId }) => {
    if (event.id !== id) return
    happened = true
    wake()
  }
  const offs = (['job.completed', 'job.failed', 'job.cancelled', 'job.lost'] as const).map((n) => events.on(n, heard))
  return {
    /** Resolves when the job may have finished, after `ms`, or when `signal` aborts. */
    within: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (happened) {
          happened = false
          return resolve()
        }
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          happened = false
          resolve()
        }
        wake = done
        const timer = setTimeout(done, ms)
        signal?.addEventListener('abort', done, { once: true })
      }),
    forget: () => {
      for (const off of offs) off()
    },
  }
}
