// The two roles that the hammer drives: Holdfast's own functions, and the claim that guards a pointer.
import type pg from 'pg'
import { ask, askList, askRow, askValue } from '../support/ask.js'
import { type ClaimProtocol, type HeldLease, type Notes, rest } from './hammer.js'

const KEYS = ['k1', 'k2', 'k3']
const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T
const chance = (share: number) => Math.random() < share
const asMember = (lease: object) => JSON.stringify([lease])

/** Workers, two producers of `jobs` jobs in all, an operator and a reaper who takes living leases for dead ones. */
export function holdfastProtocol(policy: string, jobs: number): ClaimProtocol {
  const abandoned: HeldLease[] = []
  const progress = { asked: 0 }
  const isAllAsked = () => progress.asked >= jobs
  return {
    claim: (session, worker) =>
      ask(session, `select id as job_id, token, lease_id from holdfast.claim_jobs($1, '{default}', '{task}', 2)`, [
        worker,
      ]),
    async hold(session, lease, notes) {
      if (chance(0.05)) await ask(session, 'select * from holdfast.renew_leases($1)', [asMember(lease)])
      const stale = chance(0.1) ? abandoned.pop() : undefined
      if (stale) await presentStale(session, stale, notes)
      if (!chance(0.1)) return false
      const failed = await settle(session, 'fail', { ...lease, delay_ms: 0 })
      if (failed) abandoned.push(lease)
      return failed
    },
    complete: (session, _worker, lease) => settle(session, 'complete', lease),
    isDrained: (admin) =>
      askValue(admin, 'select not exists (select from holdfast.ready) and not exists (select from holdfast.lease)'),
    others: [
      (session, notes) => produce(session, notes, policy, progress, jobs),
      (session, notes) => produce(session, notes, policy, progress, jobs),
      async (session, notes) => {
        await operate(session, notes)
        return isAllAsked() ? 'done' : 'more'
      },
      async (session) => {
        await ask(
          session,
          `select set_config('holdfast.fake_now', (clock_timestamp() + interval '1 hour')::text, false)`,
        )
        await ask(session, 'select * from holdfast.reap_leases(1)')
        await rest(session)
        return isAllAsked() ? 'done' : 'more'
      },
    ],
  }
}

async function settle(session: pg.Client, word: 'complete' | 'fail', lease: object): Promise<boolean> {
  return askValue<boolean>(session, `select settled from holdfast.${word}_jobs($1)`, [asMember(lease)])
}

async function presentStale(session: pg.Client, stale: HeldLease, notes: Notes): Promise<void> {
  if (await settle(session, 'complete', stale)) notes.staleTaken += 1
  else notes.staleRefused += 1
}

async function produce(session: pg.Client, notes: Notes, policy: string, progress: { asked: number }, jobs: number) {
  const wish = () => ({ type: 'task', key: pick(KEYS), key_policy: policy, max_attempts: 1000 })
  const batch = Array.from({ length: Math.max(0, Math.min(5, jobs - progress.asked)) }, wish)
  progress.asked += batch.length
  notes.acknowledged.push(
    ...(await askList<string>(session, 'select * from holdfast.enqueue_jobs($1)', [JSON.stringify(batch)])),
  )
  return progress.asked >= jobs ? 'done' : 'more'
}

/** Cancels, retries, or claims by id; what it is refused is none of the hammer's business. */
async function operate(session: pg.Client, notes: Notes): Promise<void> {
  const id = notes.acknowledged[Math.floor(notes.acknowledged.length * (1 - Math.random() ** 3))]
  if (id === undefined) return
  const refusal = (error: { code?: unknown }) => {
    if (!String(error.code).startsWith('JH')) throw error
  }
  if (chance(0.3)) await ask(session, 'select holdfast.cancel_job($1)', [id]).catch(refusal)
  else if (chance(0.4)) await ask(session, 'select holdfast.retry_job($1)', [id]).catch(refusal)
  else if (await askValue<boolean>(session, `select holdfast.claim_job($1, 'operator')`, [id])) {
    const lease = await ask<HeldLease>(
      session,
      'select job_id, token, lease_id from holdfast.lease where job_id = $1',
      [id],
    )
    notes.claimed.push(...lease)
    for (const held of lease) if (await settle(session, 'complete', held)) notes.completed.push(held)
  }
}

/** The claim of seed-claim.sql, driven as it was meant: look for pending jobs, then claim each in a transaction of its own. */
export function seedProtocol(jobs: number): ClaimProtocol {
  return {
    async claim(session, worker, notes) {
      const ids = await askList<string>(
        session,
        `select id from seed_claim.jobs where state = 'pending' and locked_by is null order by id limit 2 for update skip locked`,
      )
      const claimed: HeldLease[] = []
      for (const id of ids) {
        const own = () => ask<HeldLease>(session, 'select * from seed_claim.claim_job($1, $2)', [id, worker])
        claimed.push(...((await notes.attempt(own)) ?? []))
      }
      return claimed
    },
    hold: async () => false,
    async complete(session, worker, { job_id }) {
      const FINISH = `update seed_claim.jobs set state = 'finished' where id = $1 and locked_by = $2 and state = 'running'`
      return (await session.query(FINISH, [job_id, worker])).rowCount === 1
    },
    isDrained: (admin) => askValue(admin, `select not exists (select from seed_claim.jobs where state <> 'finished')`),
    others: [
      async (session) => {
        await askRow(
          session,
          `with made as (insert into seed_claim.jobs (key)
          select ($1::text[])[1 + n % 3] from generate_series(1, $2) as n returning id) select count(*) from made`,
          [KEYS, jobs],
        )
        return 'done'
      },
    ],
  }
}
