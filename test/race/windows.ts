// Races inside a function, between two of its statements: too short to be met from outside, so the function is stopped there.
import { ask, askList, askValue } from '../support/ask.js'
import { waitUntilBlocked } from '../support/blocked.js'
import type { Actor } from './harness.js'
import type { PresentedLease, Staged } from './operations.js'
import { withPause } from './patches.js'
import type { Race } from './race.js'

/** Gives one line per broken promise. */
export type Check = (race: Race) => Promise<string[]>

const problems = (race: Race) => askList<string>(race.admin, 'select problem from holdfast.check_places()')
const stage = (race: Race, start: string, policy: string | null, jobs: number) =>
  askValue<Staged>(race.admin, 'select race.stage($1, $2, $3)', [start, policy, jobs])
const complete = (actor: Actor, lease: PresentedLease | undefined) =>
  ask(actor.client, 'select settled from holdfast.complete_jobs($1)', [JSON.stringify([lease])])

/** SQLSTATE of what broke, unless it is a refusal. */
function broken(settled: PromiseSettledResult<unknown>[]): string[] {
  return settled
    .flatMap((one) => (one.status === 'rejected' ? [String((one.reason as { code?: unknown }).code)] : []))
    .filter((code) => !code.startsWith('JH'))
}

/** A claim by id has met the parked job and not yet tried its key when the holder completes. */
export const parkedJobClaimedWhileItsKeyIsFreed: Check = async (race) => {
  const [claimer, holder] = race.actors as [Actor, Actor]
  const { second, lease } = await stage(race, 'parked', 'exclusive', 2)
  await withPause(race, { file: 'lock_keys_of_ready', place: `if v_missing <> '{}'` }, async (release) => {
    const claim = ask(claimer.client, `select holdfast.claim_job($1, 'w')`, [second])
    await Promise.race([claim, waitUntilBlocked(race.admin, claimer.pid)])
    await holder.client.query('begin')
    await complete(holder, lease)
    await release()
    await claim
    await holder.client.query('commit')
  })
  return problems(race)
}

/** A cancellation has waited out the claim that made the key, when the claimer completes. */
export const firstClaimOfKeyCancelledWhileItCompletes: Check = async (race) => {
  const [claimer, operator, holder] = race.actors as [Actor, Actor, Actor]
  const { first } = await stage(race, 'pending', 'exclusive', 1)
  await ask(race.admin, 'delete from holdfast.job_key')
  return withPause(race, { file: 'end_leases', place: 'perform holdfast.drop_leases(p_job_ids);' }, async (release) => {
    await claimer.client.query('begin')
    await ask(claimer.client, `select holdfast.claim_job($1, 'w')`, [first])
    const cancel = ask(operator.client, 'select holdfast.cancel_job($1)', [first])
    await waitUntilBlocked(race.admin, operator.pid)
    await claimer.client.query('commit')
    const lease = await askValue<PresentedLease>(
      race.admin,
      `select jsonb_build_object('job_id', job_id, 'token', token, 'lease_id', lease_id) from holdfast.lease`,
    )
    await waitUntilBlocked(race.admin, operator.pid)
    const completion = complete(holder, lease)
    await waitUntilBlocked(race.admin, holder.pid)
    await release()
    return [...broken(await Promise.allSettled([cancel, completion])), ...(await problems(race))]
  })
}

/** A completion has read a lease and not yet dropped it when its holder gives the job back and it is claimed again. */
export const jobClaimedAgainWhileItCompletes: Check = async (race) => {
  const [completer, holder] = race.actors as [Actor, Actor]
  const { first, lease } = await stage(race, 'lost', null, 1)
  await withPause(race, { file: 'complete_plain_jobs', place: 'if holdfast.drop_leases(' }, async (release) => {
    const completion = ask(completer.client, 'select race.complete_plain($1, $2, $3)', [
      lease?.job_id,
      lease?.token,
      lease?.lease_id,
    ])
    await waitUntilBlocked(race.admin, completer.pid)
    await ask(holder.client, 'select holdfast.release_jobs($1)', [JSON.stringify([lease])])
    await ask(holder.client, `select holdfast.claim_job($1, 'w')`, [first])
    await release()
    await completion
  })
  const state = await askValue<string>(race.admin, 'select holdfast.state_of($1)', [first])
  return [...(state === 'running' ? [] : [`job ${first} is ${state}`]), ...(await problems(race))]
}

/** The reaper has seen an expired lease and not yet locked it when its holder renews it. */
export const leaseRenewedWhileItIsReaped: Check = async (race) => {
  const [reaper, holder] = race.actors as [Actor, Actor]
  const { lease } = await stage(race, 'lost', 'exclusive', 1)
  await ask(race.admin, 'delete from holdfast.worker')
  const reaped = await withPause(race, { file: 'reap_leases', place: `if v_lost <> '{}'` }, async (release) => {
    const reap = ask(reaper.client, 'select * from holdfast.reap_leases()')
    await waitUntilBlocked(race.admin, reaper.pid)
    await ask(holder.client, 'select * from holdfast.renew_leases($1)', [JSON.stringify([lease])])
    await release()
    return reap
  })
  return [...reaped.map(({ job_id }) => `job ${job_id} was reaped from a renewed lease`), ...(await problems(race))]
}
