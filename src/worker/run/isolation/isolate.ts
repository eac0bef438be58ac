// What a thread and a forked process for one run have in common.

import { createRequire } from 'node:module'
import type { ToIsolate } from './messages.js'

/** How it ended without an outcome, in words that continue "the process of job 7". */
export interface IsolateEnd {
  readonly what: string
  readonly lastLines?: string
}

export interface Isolate {
  readonly ended: Promise<IsolateEnd>
  send(message: ToIsolate): void
  kill(): void
}

// The built file, also when this one runs from its source: threads and processes load JavaScript only.
export const CHILD_FILE = createRequire(import.meta.url).resolve('#isolated-child')
