// Many sessions do everything to a few pipelines at once: nothing breaks, nothing is left waiting for ever.
import type pg from 'pg'
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../support/ask.js'
import { settlement } from '../support/given.js'
import { enqueuePipeline, type StepWish } from '../support/pipelines.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const SESSIONS = 8
const OPERATIONS_EACH = 120

// Successors that share dependencies crosswise, keys that steps share, a compensation: what could lock in a circle would.
const LAYERS: StepWish[] = [
  ...['a', 'b', 'c'].map((name) => ({ name, compensate: { type: 'task' } })),
  ...['d', 'e', 'f'].map((name) => ({ name, after: ['a', 'b', 'c'], key: 'shared' })),
  ...['g', 'h'].map((name) => ({ name, after: ['d', 'e', 'f', 'a'], key: 'newest', key_policy: 'supersede' })),
  { name: 'i', after: ['g', 'h', 'c'] },
]

test('no deadlock escapes and every pipeline can be brought to its end', async () => {
  const pipelines: string[] = []
  for (const on_failure of ['stop', 'continue', 'compensate', 'stop', 'continue', 'compensate']) {
    pipelines.push((await enqueuePipeline(db.pool, LAYERS, { on_failure })).id)
  }
  const jobs = await askList<string>(db.admin, 'select id from holdfast.job order by id')
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => db.connect()))
  const told = new Map<string, number>()

  await Promise.all(
    sessions.map(async (session, n) => {
      const chance = seeded(n + 1)
      for (let i = 0; i < OPERATIONS_EACH; i += 1) {
        const outcome = await anyOperation(session, chance, jobs, pipelines).then(
          () => 'done',
          (error) => String(error.code),
        )
        told.set(outcome, (told.get(outcome) ?? 0) + 1)
      }
    }),
  )

  // Refusals are class JH; a deadlock or a unique violation would show here.
  expect([...told.keys()].filter((code) => code !== 'done' && !code.startsWith('JH'))).toEqual([])
  expect(told.get('done')).toBeGreaterThan(SESSIONS * OPERATIONS_EACH * 0.3)
  // A stop skips keys that are locked just then; the sweep sees to what waits behind them.
  await ask(db.pool, 'select holdfast.offer_parked_v1()')
  expect(await ask(db.admin, 'select * from holdfast.check_places()')).toEqual([])
  await drain()
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.waiting')).toBe(0)
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.ready')).toBe(0)
})

async function anyOperation(
  session: pg.Client,
  chance: () => number,
  jobs: string[],
  pipelines: string[],
): Promise<void> {
  const job = jobs[Math.floor(chance() * jobs.length)]
  const pipeline = pipelines[Math.floor(chance() * pipelines.length)]
  const dice = chance()
  if (dice < 0.7) return work(session, chance)
  if (dice < 0.78) await ask(session, 'select holdfast.cancel_job($1)', [job])
  else if (dice < 0.86) await ask(session, 'select holdfast.retry_job($1)', [job])
  else if (dice < 0.94) await ask(session, 'select holdfast.retry_pipeline($1)', [pipeline])
  else if (dice < 0.96) await ask(session, 'select * from holdfast.cancel_pipeline($1)', [pipeline])
  else await ask(session, 'select * from holdfast.reap_leases()')
}

const LEASE_OF = `j.id as job_id, coalesce(h -> 'token' ->> j.id, h -> 'usual' ->> 'token') as token, h ->> 'lease_id' as lease_id`
const EACH_JOB = `cross join string_to_table(h ->> 'id', ',') as j(id)`

/** Claims a few and settles them, one way or another; a job that was handed off directly is settled by the next batch. */
async function work(session: pg.Client, chance: () => number): Promise<void> {
  const claimed = await ask(
    session,
    `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', $1)`,
    [1 + Math.floor(chance() * 4)],
  )
  const dice = chance()
  if (dice < 0.25) {
    for (const { job_id, token, lease_id } of claimed) {
      const handed = await ask(
        session,
        `select ${LEASE_OF}
           from json_array_elements(holdfast.complete_step_v1($1, $2, $3, null, 'w', '{default}', '{2}', '{task}')) as h ${EACH_JOB}`,
        [job_id, token, lease_id],
      )
      await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(...handed)])
    }
  } else if (dice < 0.5) {
    const handed = await ask(
      session,
      `select ${LEASE_OF}
         from holdfast.settle_jobs_v1($1, 'w', '{default}', '{2}', '{task}') as c cross join unnest(c.handed) as h ${EACH_JOB}`,
      [settlement(...claimed.map((lease) => ({ ...lease, outcome: 'complete' })))],
    )
    await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(...handed)])
  } else if (dice < 0.7) {
    await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(...claimed)])
  } else if (dice < 0.85) {
    const members = claimed.map((lease) => ({ ...lease, permanent: true }))
    await ask(session, 'select * from holdfast.fail_jobs($1)', [settlement(...members)])
  } else await ask(session, 'select * from holdfast.release_jobs($1)', [settlement(...claimed)])
}

async function drain(): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const claimed = await ask(
      db.pool,
      `select id as job_id, token, lease_id from holdfast.claim_jobs('drain', '{default}', '{task}', 100)`,
    )
    if (claimed.length === 0 && (await askValue<number>(db.pool, 'select holdfast.offer_parked_v1()')) === 0) return
    await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(...claimed)])
  }
}

/** The same numbers in every run; what differs is how the sessions meet. */
function seeded(seed: number): () => number {
  let state = seed * 2654435761
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0
    return state / 2 ** 32
  }
}
