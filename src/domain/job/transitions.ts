// The one table of what may become of a job. The diagram and the matrix in the docs are drawn from it, and the test of
// state × deed is generated from it. A new deed is a name in DEEDS, its rows, and its refusal.

import type { ErrorCode } from '../error/errors.js'
import { FINAL_STATES, JOB_STATES, type JobState } from './job.js'

export const DEEDS = [
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
export type Deed = (typeof DEEDS)[number]

/** `none` is the place of a job that does not exist. */
export type Origin = JobState | 'none'

export interface Transition {
  readonly deed: Deed
  readonly from: Origin
  readonly to: JobState | readonly JobState[]
  readonly note: string
}

export const TRANSITIONS: readonly Transition[] = [
  {
    deed: 'enqueue',
    from: 'none',
    to: ['pending', 'waiting'],
    note: 'due when run_at has come; waiting behind others of its pipeline',
  },
  { deed: 'unblock', from: 'waiting', to: 'pending', note: 'the last job it comes after has ended' },
  { deed: 'claim', from: 'pending', to: 'running', note: 'counts the attempt, issues the next token' },
  { deed: 'renew', from: 'running', to: 'running', note: 'moves locked_until' },
  { deed: 'complete', from: 'running', to: 'completed', note: 'keeps the output' },
  { deed: 'fail', from: 'running', to: ['pending', 'failed'], note: 'pending while attempts are left' },
  { deed: 'snooze', from: 'running', to: 'pending', note: 'gives the attempt back' },
  { deed: 'suspend', from: 'running', to: 'pending', note: 'gives the attempt back, due when its wait is over' },
  { deed: 'release', from: 'running', to: 'pending', note: 'gives the attempt back, due at once' },
  { deed: 'cancel', from: 'pending', to: 'cancelled', note: 'never ran or waits for a retry' },
  { deed: 'cancel', from: 'waiting', to: 'cancelled', note: 'its dependencies are open' },
  { deed: 'cancel', from: 'running', to: 'cancelled', note: 'fences the holder and aborts its signal' },
  { deed: 'retry', from: 'completed', to: 'pending', note: 'fresh attempts' },
  { deed: 'retry', from: 'failed', to: 'pending', note: 'fresh attempts' },
  {
    deed: 'retry',
    from: 'cancelled',
    to: ['pending', 'waiting'],
    note: 'fresh attempts; waiting where its pipeline is retried from an earlier step',
  },
  { deed: 'retry', from: 'superseded', to: 'pending', note: 'fresh attempts' },
  { deed: 'supersede', from: 'pending', to: 'superseded', note: 'a newer job of its key has started' },
  { deed: 'supersede', from: 'running', to: 'superseded', note: 'fences the holder and aborts its signal' },
  {
    deed: 'reap',
    from: 'running',
    to: ['pending', 'failed'],
    note: 'its holder is gone; pending while attempts are left',
  },
  { deed: 'recover', from: 'running', to: 'pending', note: 'by an operator, when stale; fresh attempts' },
]

// A claim that finds nothing to take is no error: the job is skipped silently, and so it is with what comes over a job from
// outside (unblock, supersede, reap). enqueue makes a job, it meets none.
const REFUSALS: Readonly<Record<Deed, ErrorCode | null>> = {
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

/** The states that the deed can lead to; undefined if it is refused. */
export function allowed(state: Origin, deed: Deed): readonly JobState[] | undefined {
  const row = TRANSITIONS.find((transition) => transition.from === state && transition.deed === deed)
  return row && targetsOf(row)
}

/** How a deed that `allowed` does not list is refused; null if without an error. */
export function refusalOf(state: Origin, deed: Deed): ErrorCode | null {
  const refusal = REFUSALS[deed]
  return state === 'none' && refusal === 'WRONG_STATE' ? 'JOB_NOT_FOUND' : refusal
}

/** Mermaid text of the table. */
export function drawDiagram(): string {
  const arrows = TRANSITIONS.flatMap((row) =>
    targetsOf(row).map((to) => `  ${row.from === 'none' ? '[*]' : row.from} --> ${to}: ${row.deed}`),
  )
  const ends = FINAL_STATES.map((state) => `  ${state} --> [*]`)
  return ['stateDiagram-v2', ...arrows, ...ends, ''].join('\n')
}

/** Markdown table of state × deed: where each deed leads, or the code that refuses it, or a dash. */
export function drawMatrix(): string {
  const origins: readonly Origin[] = ['none', ...JOB_STATES]
  const rows = origins.map((state) => [state, ...DEEDS.map((deed) => matrixCell(state, deed))])
  const lines = [['state', ...DEEDS], ['---', ...DEEDS.map(() => '---')], ...rows]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function matrixCell(state: Origin, deed: Deed): string {
  const targets = allowed(state, deed)
  if (targets !== undefined) return `→ ${targets.join(' or ')}`
  const refusal = refusalOf(state, deed)
  return refusal === null ? '–' : `\`${refusal}\``
}

function targetsOf(row: Transition): readonly JobState[] {
  return typeof row.to === 'string' ? [row.to] : row.to
}
