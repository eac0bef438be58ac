// Checks of the fence itself: leases that are nearly right, and a clock that must not stand still.
import { randomUUID } from 'node:crypto'
import { ask, askValue } from '../support/ask.js'
import type { Actor } from './harness.js'
import type { Policy, PresentedLease, Staged } from './operations.js'
import type { Race } from './race.js'
import type { Check } from './windows.js'

const stage = (race: Race, policy: Policy) =>
  askValue<Staged & { lease: PresentedLease }>(race.admin, 'select race.stage($1, $2, $3)', ['lost', policy, 1])
const isTaken = async (race: Race, word: string, lease: object) =>
  askValue<boolean>(race.admin, `select settled from holdfast.${word}_jobs($1) limit 1`, [JSON.stringify([lease])])

/** After a failover to a lagging standby the same token can be issued again, with another lease id; or the other way round. */
function forged(word: 'complete' | 'fail', policy: Policy, forge: (lease: PresentedLease) => PresentedLease): Check {
  return async (race) => {
    const { lease } = await stage(race, policy)
    return (await isTaken(race, word, forge(lease))) ? [`${word} was taken with a forged lease`] : []
  }
}
const wrongToken = (lease: PresentedLease) => ({ ...lease, token: lease.token - 1 })
const wrongLeaseId = (lease: PresentedLease) => ({ ...lease, lease_id: randomUUID() })

/** The same for the array form. */
function forgedPlain(forge: (lease: PresentedLease) => PresentedLease): Check {
  return async (race) => {
    const { lease } = await stage(race, null)
    const { job_id, token, lease_id } = forge(lease)
    const unsettled = await askValue<string[]>(
      race.admin,
      'select holdfast.complete_plain_jobs_v1(array[$1::bigint], array[1], array[$2::bigint], array[$3::uuid])',
      [job_id, token, lease_id],
    )
    return unsettled.length === 1 ? [] : ['complete_plain_jobs was taken with a forged lease']
  }
}

export const keyedCompleteWithWrongToken = forged('complete', 'exclusive', wrongToken)
export const plainWithWrongToken = forgedPlain(wrongToken)
export const failWithWrongLeaseId = forged('fail', null, wrongLeaseId)

/** A worker that holds a job again, under the lease of another job in the same batch, and presents its first lease. */
const withMixedPairs =
  (complete: (race: Race, batch: readonly object[]) => Promise<unknown>): Check =>
  async (race) => {
    const { stale, first, lease } = await stage(race, null)
    await ask(race.admin, 'select holdfast.release_jobs($1)', [JSON.stringify([lease])])
    const other = await askValue<string>(race.admin, `select holdfast.enqueue('task')`)
    const claimed = await ask(race.admin, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 2)`)
    const [again, beside] = [first, other].map((id) => claimed.find((row) => row.id === String(id)))
    if (!again || !beside) throw new Error('both jobs must be claimed in one call')
    const batch = [
      { ...stale, token: again.token },
      { job_id: other, token: beside.token, lease_id: beside.lease_id },
    ]
    await complete(race, batch)
    const state = await askValue<string>(race.admin, 'select state from holdfast.jobs where id = $1', [first])
    return state === 'running' ? [] : [`a stale member was taken with another one's lease: job is ${state}`]
  }
export const completeWithMixedPairs = withMixedPairs(({ admin }, batch) =>
  ask(admin, 'select * from holdfast.complete_jobs($1)', [JSON.stringify(batch)]),
)
export const plainWithMixedPairs = withMixedPairs(({ admin }, batch) =>
  ask(
    admin,
    `select holdfast.complete_plain_jobs_v1(array_agg(m.job_id), '{1,2}', array_agg(m.token), array_agg(m.lease_id))
       from jsonb_to_recordset($1) as m(job_id bigint, token bigint, lease_id uuid)`,
    [JSON.stringify(batch)],
  ),
)

/** A lease that ends while the reaper's transaction is open has ended. */
export const leaseEndsDuringTransaction: Check = async (race) => {
  const [reaper] = race.actors as [Actor]
  await stage(race, null)
  await ask(race.admin, 'delete from holdfast.worker')
  await reaper.client.query('begin')
  await ask(reaper.client, 'select now()')
  await ask(race.admin, 'update holdfast.lease set locked_until = clock_timestamp()')
  const reaped = await ask(reaper.client, 'select * from holdfast.reap_leases()')
  await reaper.client.query('commit')
  return reaped.length === 1 ? [] : ['an expired lease looked alive to a transaction that began before its end']
}
