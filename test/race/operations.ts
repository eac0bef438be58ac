// What a session does in a race: one call of one function on the jobs that the stage has set up.
import type { Row } from '../support/ask.js'

export type Policy = 'exclusive' | 'supersede' | 'coalesce' | null
export type Start = 'pending' | 'lost' | 'parked' | 'finished'

export interface PresentedLease {
  readonly job_id: number
  readonly token: number
  readonly lease_id: string
}

export interface Staged {
  readonly first: number
  readonly second: number | null
  /** Of the job that runs, and of its claim before that one. */
  readonly lease?: PresentedLease
  readonly stale?: PresentedLease
}

export interface Operation {
  readonly name: string
  readonly word: string
  readonly text: string
  readonly values: (staged: Staged, policy: Policy) => readonly unknown[]
  /** Whether it may wait for a short transition of the same job or key. Claims, reaps and renewals never do. */
  readonly mayWait: boolean | ((policy: Policy) => boolean)
  /** The lease it presents, for operations that must be the holder's. */
  readonly presents?: 'lease' | 'stale'
  /** Whether the answer says that the write was taken. */
  readonly isAccepted?: (rows: readonly Row[]) => boolean
}

const CLAIM = `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', 2)`
export const claim: Operation = { name: 'claim', word: 'claim', text: CLAIM, values: () => [], mayWait: false }

const claimJob = (which: 'first' | 'second'): Operation => ({
  name: `claim_job ${which}`,
  word: 'claim',
  text: `select holdfast.claim_job($1, 'w') as is_mine`,
  values: (staged) => [staged[which]],
  mayWait: false,
})
export const claimFirst = claimJob('first')
export const claimSecond = claimJob('second')

const settle = (word: string, presents: 'lease' | 'stale', more: object = {}): Operation => ({
  name: presents === 'stale' ? `${word} with a stale lease` : word,
  word,
  text: `select * from holdfast.${word}_jobs($1)`,
  values: (staged) => [JSON.stringify([{ ...staged[presents], ...more }])],
  mayWait: true,
  presents,
  isAccepted: ([row]) => row?.settled === true,
})
export const complete = settle('complete', 'lease')
export const completeStale = settle('complete', 'stale')
export const fail = settle('fail', 'lease', { delay_ms: 0 })
export const failStale = settle('fail', 'stale')
export const release = settle('release', 'lease')

const completePlain = (presents: 'lease' | 'stale'): Operation => ({
  name: presents === 'stale' ? 'complete_plain_jobs with a stale lease' : 'complete_plain_jobs',
  word: 'complete',
  text: 'select race.complete_plain($1, $2, $3) as settled',
  values: (staged) => [staged[presents]?.job_id, staged[presents]?.token, staged[presents]?.lease_id],
  mayWait: true,
  presents,
  isAccepted: ([row]) => row?.settled === true,
})
export const completePlainJob = completePlain('lease')
export const completePlainStale = completePlain('stale')

export const completeInOwnTransaction: Operation = {
  name: 'complete_job',
  word: 'complete',
  text: 'select holdfast.complete_job($1, $2, $3)',
  values: ({ lease }) => [lease?.job_id, lease?.token, lease?.lease_id],
  mayWait: true,
  presents: 'lease',
  isAccepted: (rows) => rows.length === 1,
}

const renewWith = (presents: 'lease' | 'stale'): Operation => ({
  name: presents === 'stale' ? 'renew with a stale lease' : 'renew',
  word: 'renew',
  text: 'select * from holdfast.renew_leases($1)',
  values: (staged) => [JSON.stringify([staged[presents]])],
  mayWait: false,
  presents,
  isAccepted: ([row]) => row?.renewed === true,
})
export const renew = renewWith('lease')
export const renewStale = renewWith('stale')
/** Renewed by the watchdog, whose worker may have lost the job already. */
export const renewWorker: Operation = {
  name: 'renew all of the worker',
  word: 'renew',
  text: `select holdfast.renew_worker_v1('w1')`,
  values: () => [],
  mayWait: false,
}

const onJob = (word: string, which: 'first' | 'second', text = `select holdfast.${word}_job($1)`): Operation => ({
  name: `${word} ${which}`,
  word,
  text,
  values: (staged) => [staged[which]],
  mayWait: true,
})
export const cancelFirst = onJob('cancel', 'first')
export const cancelSecond = onJob('cancel', 'second')
export const retryFirst = onJob('retry', 'first')
export const recover: Operation = {
  name: 'recover',
  word: 'recover',
  text: `select holdfast.recover_job($1, '10 minutes')`,
  values: ({ lease }) => [lease?.job_id],
  mayWait: true,
}

export const reap: Operation = {
  name: 'reap',
  word: 'reap',
  text: 'select * from holdfast.reap_leases()',
  values: () => [],
  mayWait: false,
}

export const enqueue: Operation = {
  name: 'enqueue',
  word: 'enqueue',
  text: `select holdfast.enqueue('task', '{}', $1) as id`,
  values: (_staged, policy) => [
    JSON.stringify(policy === null ? { max_attempts: 9 } : { max_attempts: 9, key: 'k', key_policy: policy }),
  ],
  // Those who coalesce share the one pending row.
  mayWait: (policy) => policy === 'coalesce',
}
