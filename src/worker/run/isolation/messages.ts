// The messages between a worker and an isolate.

import type { ErrorCode } from '../../../domain/error/errors.js'
import type { ClaimedJob } from '../../../domain/job/job.js'
import type { Logger } from '../../../domain/run/context.js'
import type { Outcome } from '../../../domain/run/outcome.js'
import type { DatabaseAddress } from '../../../store/store.js'

export interface IsolateTask {
  readonly job: ClaimedJob
  readonly type: string
  readonly module: string
  /** undefined on the embedded database, which no other thread or process can open. */
  readonly database: DatabaseAddress | undefined
  readonly schema: string
}

export type ToIsolate =
  | { readonly kind: 'abort'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'progressed'; readonly place: number; readonly held: boolean }

export type FromIsolate =
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'progress'; readonly place: number; readonly share: number; readonly message: string | null }
  | { readonly kind: 'log'; readonly level: keyof Logger; readonly fields: object; readonly message: string }

/** The first message to a process. `token` marks what Holdfast's own code in the process sends. */
export type ToProcess = ToIsolate | { readonly kind: 'run'; readonly task: IsolateTask; readonly token: string }

export interface MarkedMessage {
  readonly token: string
  readonly message: FromIsolate
}

/** A handler shares the channel of its process and may send anything: undefined for what is not Holdfast's. */
export function messageIn(received: unknown, token: string): FromIsolate | undefined {
  const { token: found, message } = (received ?? {}) as Partial<MarkedMessage>
  return found === token ? message : undefined
}
