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
  | { readonly kind: 'run'; readonly task: IsolateTask }
  | { readonly kind: 'abort'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'progressed'; readonly place: number; readonly held: boolean }

export type FromIsolate =
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'progress'; readonly place: number; readonly share: number; readonly message: string | null }
  | { readonly kind: 'log'; readonly level: keyof Logger; readonly fields: object; readonly message: string }
