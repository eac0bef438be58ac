// Jobs in the state that a test starts from, made by the same functions that everyone calls.
import { ask, askRow, askValue, type Session } from './ask.js'

/** What every write of a holder presents. */
export interface Lease {
  job_id: string
  token: string
  lease_id: string
}

export interface JobWish {
  type?: string
  input?: unknown
  [option: string]: unknown
}

export type FinalState = 'completed' | 'failed' | 'cancelled' | 'superseded'

/** The lease as the one argument of the settling functions, with more fields if given. */
export function settlement(...leases: object[]): string {
  return JSON.stringify(leases)
}

export function givenIn(session: Session) {
  const given = {
    async pendingJob({ type = 'task', input = {}, ...options }: JobWish = {}): Promise<string> {
      return askValue<string>(session, 'select holdfast.enqueue($1, $2, $3)', [
        type,
        JSON.stringify(input),
        JSON.stringify(options),
      ])
    },

    async runningJob(wish: JobWish = {}): Promise<Lease> {
      return given.claimed(await given.pendingJob(wish))
    },

    /** The lease of that pending job, which must be free to be claimed. */
    async claimed(id: string, worker = 'worker-1'): Promise<Lease> {
      return askRow<Lease>(session, 'select id as job_id, token, lease_id from holdfast.claim_one($1, $2)', [
        id,
        worker,
      ])
    },

    async finishedJob(state: FinalState, wish: JobWish = {}): Promise<Lease> {
      const key = state === 'superseded' ? { key: `key-${Math.random()}`, key_policy: 'supersede', ...wish } : wish
      const lease = await given.runningJob(key)
      switch (state) {
        case 'completed':
          await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])
          break
        case 'failed':
          await ask(session, 'select * from holdfast.fail_jobs($1)', [settlement({ ...lease, permanent: true })])
          break
        case 'cancelled':
          await ask(session, 'select holdfast.cancel_job($1)', [lease.job_id])
          break
        case 'superseded':
          await given.runningJob(key)
      }
      return lease
    },
  }
  return given
}
