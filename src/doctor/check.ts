// What every check has: a name, what it needs, and an examination.

import type { Database } from '../store/connection/connection.js'
import type { Store } from '../store/store.js'
import type { CheckResult } from './finding.js'
import type { Limits } from './thresholds.js'

/** What a check may examine. */
export interface CheckTarget {
  readonly database: Database
  readonly store: Store
  readonly limits: Limits
}

export interface Check {
  readonly name: string
  /** Without this the check is skipped. */
  readonly needs?: 'server' | 'schema'
  /** At least one result, also when nothing is wrong. */
  examine(target: CheckTarget): Promise<readonly CheckResult[]>
}
