// Ways to break the functions, one textual change each, and for each the check that must see it.

import * as forgeries from './forgeries.js'
import * as operations from './operations.js'
import type { Patch } from './patches.js'
import type { Scenario } from './race.js'
import {
  type Check,
  jobClaimedAgainWhileItCompletes,
  leaseRenewedWhileItIsReaped,
  parkedJobClaimedWhileItsKeyIsFreed,
} from './windows.js'

export interface Mutation {
  readonly name: string
  readonly patch: Patch
  readonly caughtBy: NamedCheck
}

export interface NamedCheck {
  readonly name: string
  readonly run: Check
}

const { claim, complete, fail, renew, renewStale, renewWorker, cancelFirst, reap } = operations

const check = (name: string, run: Check): NamedCheck => ({ name, run })

/** All orders of a scenario, or those given. */
function race(
  policy: operations.Policy,
  start: operations.Start,
  trio: readonly operations.Operation[],
  orders?: Scenario['orders'],
): NamedCheck {
  const name = `${trio.map((operation) => operation.name).join(' ∥ ')} (${policy ?? 'no key'}, ${start})`
  const jobs = policy === null ? 1 : 2
  return check(name, async ({ playAll }) => {
    const { violations } = await playAll({ policy, start, jobs, operations: trio, ...(orders && { orders }) })
    return [...violations]
  })
}

const claimBesideCompletion = race('exclusive', 'lost', [complete, claim])
const takeOverBesideCompletion = race('supersede', 'lost', [claim, complete])
const completionBesideRenewal = race('exclusive', 'parked', [complete, renew])
const nothing = { replace: '' }

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'complete_plain_jobs does not compare the token',
    patch: { file: 'complete_plain_jobs', find: 'and b.token = c.token', ...nothing },
    caughtBy: check('complete plainly with a wrong token', forgeries.plainWithWrongToken),
  },
  {
    name: 'complete_plain_jobs does not compare the lease id',
    patch: { file: 'complete_plain_jobs', find: 'and b.lease_id = c.lease_id', ...nothing },
    caughtBy: check('complete plainly with mixed pairs', forgeries.plainWithMixedPairs),
  },
  {
    name: 'complete_plain_jobs compares lists instead of pairs',
    patch: {
      file: 'complete_plain_jobs',
      find: /and b\.token = c\.token\s+and b\.lease_id = c\.lease_id/,
      replace: 'and b.token = any (p_tokens) and b.lease_id = any (p_lease_ids)',
    },
    caughtBy: check('complete plainly with mixed pairs', forgeries.plainWithMixedPairs),
  },
  {
    name: 'drop_leases does not compare the lease id',
    patch: { file: 'place_leases', find: 'or l.lease_id = any (p_lease_ids)', replace: 'or true' },
    caughtBy: check('a job is claimed again while it is completed', jobClaimedAgainWhileItCompletes),
  },
  {
    name: 'lock_leases does not compare the token',
    patch: { file: 'lock_leases', find: 'and l.token = w.token', ...nothing },
    caughtBy: check('keyed complete with a wrong token', forgeries.keyedCompleteWithWrongToken),
  },
  {
    name: 'lock_leases does not compare the lease id',
    patch: { file: 'lock_leases', find: 'and l.lease_id = w.lease_id', ...nothing },
    caughtBy: check('fail with a wrong lease id', forgeries.failWithWrongLeaseId),
  },
  {
    name: 'lock_leases compares lists instead of pairs',
    patch: {
      file: 'lock_leases',
      find: /and l\.token = w\.token\s+and l\.lease_id = w\.lease_id/,
      replace: `and l.token in (select x.token from jsonb_to_recordset(p_settlements) as x(token bigint))
       and l.lease_id in (select x.lease_id from jsonb_to_recordset(p_settlements) as x(lease_id uuid))`,
    },
    caughtBy: check('complete with mixed pairs', forgeries.completeWithMixedPairs),
  },
  {
    name: 'settled_before takes the completion of a superseded job',
    patch: { file: 'settle_jobs', find: `and o.state = 'completed'`, ...nothing },
    caughtBy: takeOverBesideCompletion,
  },
  {
    name: 'renew_leases asks for the job id only',
    patch: { file: 'renew_leases', find: /and (\w)\.token = (\w)\.token and \1\.lease_id = \2\.lease_id/g, ...nothing },
    caughtBy: race(null, 'lost', [renewStale, claim]),
  },
  {
    name: 'renew_leases waits for locked rows',
    patch: { file: 'renew_leases', find: 'for update of h skip locked', replace: 'for update of h' },
    caughtBy: completionBesideRenewal,
  },
  {
    name: 'renew_worker waits for locked rows',
    patch: { file: 'renew_worker', find: 'for update skip locked', replace: 'for update' },
    caughtBy: race('exclusive', 'lost', [complete, renewWorker]),
  },
  {
    name: 'cancel_job locks the job before its key',
    patch: {
      file: 'cancel_job',
      find: /perform from holdfast\.job_key as k where k\.key = v_key for update;/g,
      ...nothing,
    },
    caughtBy: race('exclusive', 'lost', [claim, complete, cancelFirst], [[0, 1, 2, 0, 1, 2]]),
  },
  {
    name: 'lease_by_id locks the job before its key',
    patch: { file: 'claim_by_id', find: 'elsif v_key is not null then', replace: 'elsif false then' },
    caughtBy: check('a parked job is claimed while its key is freed', parkedJobClaimedWhileItsKeyIsFreed),
  },
  {
    name: 'lock_due_jobs waits for locked jobs',
    patch: { file: 'lock_due_jobs', find: 'for update skip locked', replace: 'for update' },
    caughtBy: race('exclusive', 'pending', [claim, claim]),
  },
  {
    name: 'lock_keys_of_ready waits for locked keys',
    patch: { file: 'lock_keys_of_ready', find: 'for update skip locked', replace: 'for update' },
    caughtBy: claimBesideCompletion,
  },
  {
    name: 'lock_keys_of_ready calls a held key free',
    patch: { file: 'lock_keys_of_ready', find: 'filter (where k.holder is null)', ...nothing },
    caughtBy: claimBesideCompletion,
  },
  {
    name: 'park_backlog parks without the lock of the key',
    patch: { file: 'park_backlog', find: 'm.key = any (p_keys)', replace: 'true' },
    caughtBy: claimBesideCompletion,
  },
  {
    name: 'claim_keyed gives the token of the last claim again',
    patch: {
      file: 'claim_keyed',
      find: 'greatest(k.token, (t.job).token) + 1',
      replace: 'greatest(k.token, (t.job).token, 1)',
    },
    caughtBy: race('exclusive', 'parked', [fail, claim]),
  },
  {
    name: 'claim_newest does not end the former holder',
    patch: { file: 'claim_newest', find: /perform holdfast\.end_leases\([\s\S]*?\);/, ...nothing },
    caughtBy: takeOverBesideCompletion,
  },
  {
    name: 'free_keys does not un-park',
    patch: { file: 'free_keys', find: 'set parked = false', replace: 'set parked = true' },
    caughtBy: completionBesideRenewal,
  },
  {
    name: 'reap_leases takes by id, without a second look',
    patch: {
      file: 'reap_leases',
      find: /and \(l\.locked_until < v_now or l\.locked_by = any \(v_dead\)\)/,
      ...nothing,
    },
    caughtBy: check('a lease is renewed while it is reaped', leaseRenewedWhileItIsReaped),
  },
  {
    name: 'reap_leases waits for locked workers',
    patch: { file: 'reap_leases', find: /for update skip locked(?=\s+--|\s+\)\);)/, replace: 'for update' },
    caughtBy: race(null, 'lost', [reap, reap]),
  },
  {
    name: 'now gives the start of the transaction',
    patch: { file: 'now', find: ', clock_timestamp())', replace: ', pg_catalog.now())' },
    caughtBy: check('a lease ends during a transaction', forgeries.leaseEndsDuringTransaction),
  },
]
