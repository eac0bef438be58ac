// One function each puts rows into a place and takes them out, whatever the reason.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Row } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const functionsWith = (text: string) =>
  askList<string>(
    db.admin,
    `select p.proname from pg_catalog.pg_proc as p
      where p.pronamespace = 'holdfast'::regnamespace and p.prosrc ~ $1 order by 1`,
    [`${text}\\M`],
  )

test.each([
  ['insert into holdfast.outcome', ['place_outcomes']],
  ['insert into holdfast.ready', ['place_ready']],
  ['insert into holdfast.lease', ['place_leases']],
  ['insert into holdfast.waiting', ['place_waiting']],
  ['delete from holdfast.lease', ['drop_leases']],
  ['delete from holdfast.waiting', ['drop_waiting']],
])('%s stands in %o', async (text, functions) => {
  expect(await functionsWith(text)).toEqual(functions)
})

/** A row of the table in which each column has a value of its own. */
const sample = (place: string) =>
  askRow<Row>(db.admin, `select to_jsonb(r) as row from jsonb_populate_record(null::holdfast.${place}, $1) as r`, [
    {
      job_id: 1,
      pipeline_id: '00000000-0000-0000-0000-000000000002',
      run_at: '2030-01-03T00:00:00Z',
      token: 4,
      rank: 5,
      locked_at: '2030-01-06T00:00:00Z',
      locked_until: '2030-01-07T00:00:00Z',
      finished_at: '2030-01-08T00:00:00Z',
      lease_id: '00000000-0000-0000-0000-000000000009',
      priority: 1,
      attempts: 11,
      max_attempts: 12,
      crashes: 13,
      parked: false,
      coalescing: true,
      progress: 0.5,
      type: 'type',
      queue: 'queue',
      locked_by: 'worker',
      key: 'key',
      key_policy: 'coalesce',
      status_message: 'status',
      linked: true,
      unparked: false,
      open: 14,
      state: 'failed',
      output: 'output',
      error: 'error',
    },
  ]).then(({ row }) => row as Row)

/** What the rows of two places have in common, by column. */
const shared = (row: Row, other: Row) =>
  Object.fromEntries(Object.keys(row).flatMap((key) => (key in other ? [[key, row[key]]] : [])))

test('an outcome keeps each column of the lease, and has the rest from its end', async () => {
  const lease = await sample('lease')
  const outcome = await askValue<Row>(
    db.admin,
    `select to_jsonb(holdfast.outcome_row(jsonb_populate_record(null::holdfast.lease, $1), 'failed', '2030-01-08T00:00:00Z',
                                          '"output"', '"error"'))`,
    [lease],
  )

  expect(outcome).toEqual(await sample('outcome'))
  expect(shared(outcome, lease)).toEqual(shared(lease, outcome))
})

test.each([
  ['ready', { run_at: '2030-01-03T00:00:00+00:00', attempts: 11 }],
  ['waiting', { run_at: '2030-01-08T00:00:00+00:00', attempts: 0 }],
])('the outcome of a job that never ran has no holder: %s', async (place, start) => {
  const outcome = await askValue<Row>(
    db.admin,
    `select to_jsonb(holdfast.outcome_row(jsonb_populate_record(null::holdfast.${place}, $1), 'failed',
                                          '2030-01-08T00:00:00Z', '"error"'))`,
    [await sample(place)],
  )

  const nobody = { locked_at: null, locked_by: null, lease_id: null, output: null }
  expect(outcome).toEqual({ ...(await sample('outcome')), ...start, ...nobody })
})

test('a pending job has each column that it was given', async () => {
  const ready = await sample('ready')

  expect(
    await askValue<Row>(
      db.admin,
      `select to_jsonb(holdfast.ready_row(r.job_id, r.type, r.queue, r.priority, r.run_at, r.max_attempts, r.token, r.key,
                                          r.key_policy, r.rank, r.linked, r.attempts, r.crashes, r.coalescing))
         from jsonb_populate_record(null::holdfast.ready, $1) as r`,
      [ready],
    ),
  ).toEqual(ready)
})

test('the jobs of a list move from place to place, and no others', async () => {
  const given = givenIn(db.pool)
  const [one, two] = [await given.runningJob(), await given.runningJob()]

  await ask(
    db.admin,
    `select holdfast.place_outcomes(array(select holdfast.outcome_row(l, 'completed', holdfast.now())
                                            from holdfast.lease as l where l.job_id = $1)),
            holdfast.drop_leases(array[$1::bigint])`,
    [one.job_id],
  )

  expect(await ask(db.admin, 'select id, state from holdfast.jobs order by id')).toEqual([
    { id: one.job_id, state: 'completed' },
    { id: two.job_id, state: 'running' },
  ])
})
