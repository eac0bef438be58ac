// One topic that at least one stream follows, and its latest state.

import type { StoredStep } from '../../domain/run/durable-step.js'
import type { LogWindow } from './log-window.js'
import type { Topic } from './topic.js'

export interface Sighting {
  /** Of `text`: equal texts have equal versions. */
  readonly version: string
  /** The state as JSON; `null` when there is no such thing, or no longer. */
  readonly text: string
}

/** Is called when the state changed. */
export interface Reader {
  mark(watch: Watch): void
}

export interface Watch {
  /** Of its topic and what is summed. */
  readonly key: string
  readonly topic: Topic
  /** The queues that its readers see, of what adds up over queues; undefined: all, or it is of one queue anyway. */
  readonly queues: readonly string[] | undefined
  readonly readers: Set<Reader>
  /** undefined until the first poll. */
  latest: Sighting | undefined
  /** Its version in the database at the last poll; of jobs only. */
  storedVersion: string | undefined
  /** The log lines since the first poll; of jobs only. */
  lines: LogWindow | undefined
  /** The durable steps and their version in the database; of jobs only. */
  steps: { readonly version: string; readonly list: readonly Omit<StoredStep, 'output'>[] } | undefined
  /** It changes only if an operator wants it to. */
  isSettled: boolean
  /** When to poll again, in milliseconds of the process's clock. */
  dueAt: number
}
