// The one table of the transitions of a job. The diagram and the matrix in the docs are drawn from it, and the test of
// state × operation is generated from it. A new operation is a name in OPERATIONS, its rows, and its refusal.

import type { ErrorCode } from '../error/errors.js'
import { FINAL_STATES, JOB_STATES, type JobState } from './job.js'

export const OPERATIONS = [
  'enqueue',
  'unblock',
  'claim',
  'renew',
  'complete',
  'fail',
  'snooze',
  'suspend',
  'release',
  'cancel',
  'retry',
  'supersede',
  'reap',
  'recover',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** `none` is the place of a job that does not exist. */
export type Origin = JobState | 'none'

export interface Transition {
  readonly operation: Operation
  readonly from: Origin
  readonly to: JobState | readonly JobState[]
  readonly note: string
}

export const TRANSITIONS: readonly Transition[] = [
  {
    operation: 'enqueue',
    from: 'none',
    to: ['pending', 'waiting'],
    note: 'due when run_at has come; waiting behind others of its pipeline',
  },
  { operation: 'unblock', from: 'waiting', to: 'pending', note: 'the last job it comes after has ended' },
  { operation: 'claim', from: 'pending', to: 'running', note: 'counts the attempt, issues the next token' },
  { operation: 'renew', from: 'running', to: 'running', note: 'moves locked_until' },
  { operation: 'complete', from: 'running', to: 'completed', note: 'keeps the output' },
  { operation: 'fail', from: 'running', to: ['pending', 'failed'], note: 'pending while attempts are left' },
  { operation: 'snooze', from: 'running', to: 'pending', note: 'does not count the attempt' },
  {
    operation: 'suspend',
    from: 'running',
    to: 'pending',
    note: 'does not count the attempt; due when its wait is over',
  },
  { operation: 'release', from: 'running', to: 'pending', note: 'does not count the attempt; due at once' },
  { operation: 'cancel', from: 'pending', to: 'cancelled', note: 'never ran or waits for a retry' },
  { operation: 'cancel', from: 'waiting', to: 'cancelled', note: 'its dependencies are open' },
  { operation: 'cancel', from: 'running', to: 'cancelled', note: 'fences the holder and aborts its signal' },
  { operation: 'retry', from: 'completed', to: 'pending', note: 'fresh attempts' },
  { operation: 'retry', from: 'failed', to: 'pending', note: 'fresh attempts' },
  {
    operation: 'retry',
    from: 'cancelled',
    to: ['pending', 'waiting'],
    note: 'fresh attempts; waiting where its pipeline is retried from an earlier step',
  },
  { operation: 'retry', from: 'superseded', to: 'pending', note: 'fresh attempts' },
  { operation: 'supersede', from: 'pending', to: 'superseded', note: 'a newer job of its key has started' },
  { operation: 'supersede', from: 'running', to: 'superseded', note: 'fences the holder and aborts its signal' },
  {
    operation: 'reap',
    from: 'running',
    to: ['pending', 'failed'],
    note: 'its holder is gone; pending while attempts are left',
  },
  { operation: 'recover', from: 'running', to: 'pending', note: 'by an operator, when stale; fresh attempts' },
]

// A claim that finds nothing to take is no error: the job is skipped silently, and so it is with what comes over a job from
// outside (unblock, supersede, reap). enqueue makes a job, it meets none.
const REFUSALS: Readonly<Record<Operation, ErrorCode | null>> = {
  enqueue: null,
  unblock: null,
  claim: null,
  renew: 'LEASE_LOST',
  complete: 'LEASE_LOST',
  fail: 'LEASE_LOST',
  snooze: 'LEASE_LOST',
  suspend: 'LEASE_LOST',
  release: 'LEASE_LOST',
  cancel: 'WRONG_STATE',
  retry: 'WRONG_STATE',
  supersede: null,
  reap: null,
  recover: 'WRONG_STATE',
}

/** The states that the operation can lead to; undefined if it is refused. */
export function allowed(state: Origin, operation: Operation): readonly JobState[] | undefined {
  const row = TRANSITIONS.find((transition) => transition.from === state && transition.operation === operation)
  return row && targetsOf(row)
}

/** How a operation that `allowed` does not list is refused; null if without an error. */
export function refusalOf(state: Origin, operation: Operation): ErrorCode | null {
  const refusal = REFUSALS[operation]
  return state === 'none' && refusal === 'WRONG_STATE' ? 'JOB_NOT_FOUND' : refusal
}

/** Mermaid text of the table. */
export function drawDiagram(): string {
  const arrows = TRANSITIONS.flatMap((row) =>
    targetsOf(row).map((to) => `  ${row.from === 'none' ? '[*]' : row.from} --> ${to}: ${row.operation}`),
  )
  const ends = FINAL_STATES.map((state) => `  ${state} --> [*]`)
  return ['stateDiagram-v2', ...arrows, ...ends, ''].join('\n')
}

/** Markdown table of state × operation: where each operation leads, or the code that refuses it, or a dash. */
export function drawMatrix(): string {
  const origins: readonly Origin[] = ['none', ...JOB_STATES]
  const rows = origins.map((state) => [state, ...OPERATIONS.map((operation) => matrixCell(state, operation))])
  const lines = [['state', ...OPERATIONS], ['---', ...OPERATIONS.map(() => '---')], ...rows]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function matrixCell(state: Origin, operation: Operation): string {
  const targets = allowed(state, operation)
  if (targets !== undefined) return `→ ${targets.join(' or ')}`
  const refusal = refusalOf(state, operation)
  return refusal === null ? '–' : `\`${refusal}\``
}

function targetsOf(row: Transition): readonly JobState[] {
  return typeof row.to === 'string' ? [row.to] : row.to
}
