// One thing that at least one stream is about, and how it looked last.

import type { StoredStep } from '../../domain/run/durable-step.js'
import type { LogWindow } from './log-window.js'
import type { Topic } from './topic.js'

export interface Sighting {
  /** Of `text`: equal texts have equal versions. */
  readonly version: string
  /** The state as JSON; `null` when there is no such thing, or no longer. */
  readonly text: string
}

/** Who is told that it changed. */
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
  /** undefined until the first look. */
  latest: Sighting | undefined
  /** What the database called its version at the last look; of jobs only. */
  storedVersion: string | undefined
  /** From the first look on, and of jobs only: what was logged since. */
  lines: LogWindow | undefined
  /** Of jobs only: what the handler remembers, and what the database called the version of that. */
  steps: { readonly version: string; readonly list: readonly Omit<StoredStep, 'output'>[] } | undefined
  /** It changes only if an operator wants it to. */
  isSettled: boolean
  /** When to look again, in milliseconds of the process's clock. */
  dueAt: number
}
