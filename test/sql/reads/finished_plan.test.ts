// Finished jobs are found by the index of their state on a large day, also when the statistics say that the day is empty.
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { countRows, prepareToCount } from '../../support/rows-handled.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

/** A day of so many jobs in the order in which they finished; one in a hundred did not complete. */
async function fill(jobs: number): Promise<void> {
  await ask(
    db.admin,
    `insert into holdfast.job (type, queue, priority, max_attempts, input, created_at)
     select 'task', 'default', 5, 3, '{}', holdfast.now() from generate_series(1, $1)`,
    [jobs],
  )
  await ask(
    db.admin,
    `insert into holdfast.outcome (job_id, token, run_at, locked_at, finished_at, attempts, state)
     select id, 1, holdfast.now(), holdfast.now(), date_trunc('day', holdfast.now()) + id / 100 * interval '1 millisecond', 1,
            case when id % 101 > 0 then 'completed' else (array['failed', 'cancelled', 'superseded'])[1 + id % 3] end
       from holdfast.job`,
  )
}

const list = (states: string) => `select count(*) from holdfast.list_jobs_v1('{${states}}', null, 50)`
const COUNT = `select holdfast.count_minutes(date_trunc('day', holdfast.now()),
                                            date_trunc('day', holdfast.now()) + interval '20 milliseconds')`

test.each([
  ['a list of completed jobs', list('"states": ["completed"]'), ['outcome_completed']],
  ['a list of failed jobs', list('"states": ["failed"]'), ['outcome_unfulfilled']],
  ['a list by time', list('"since": "2020-01-01T00:00:00Z"'), ['outcome_completed', 'outcome_unfulfilled']],
  ['the count of a minute', COUNT, ['outcome_completed', 'outcome_unfulfilled']],
  ['a read of recent work', `select holdfast.recent_work_v1('1 second')`, ['outcome_completed', 'outcome_unfulfilled']],
])('%s goes by the indexes of its states and reads none of the others', async (_, read, indexes) => {
  await ask(db.admin, 'analyze holdfast.outcome')
  await fill(30_300)
  const client = await db.connect('admin')

  await ask(client, 'begin')
  await ask(client, read)
  const used = await askList<string>(client, USED)
  const scanned = await askValue<number>(client, SCANNED)
  await ask(client, 'rollback')

  expect(used).toEqual(indexes)
  expect(scanned).toBe(0)
})

test.each([
  ['a list of all jobs', 'select count(*) from holdfast.list_jobs_v1()'],
  ['a list of completed jobs', list('"states": ["completed"]')],
  ['a list of jobs of a worker', list('"worker": "nobody"')],
  [
    'the versions of 50 jobs',
    'select count(*) from holdfast.job_versions_v1(array(select id from holdfast.job limit 50))',
  ],
])('%s does not read a small day once for each job', async (_, read) => {
  await fill(400)
  await ask(db.admin, 'analyze')
  const client = await db.connect('admin')
  await prepareToCount(client)

  const { rows } = await countRows(client, () => ask(client, read))

  expect(rows).toBeLessThan(10_000)
})

/** The indexes that this transaction has read, of days that have a partition: of the default one it reads the newest day first. */
const USED = `
  select distinct p.relname::text
    from pg_inherits as i
    join pg_class as p on p.oid = i.inhparent
    join pg_index as x on x.indexrelid = i.inhrelid and x.indrelid <> 'holdfast.outcome_default'::regclass
   where p.relname in ('outcome_completed', 'outcome_unfulfilled')
     and pg_stat_get_xact_numscans(i.inhrelid) > 0
   order by 1`
const SCANNED = `
  select coalesce(sum(pg_stat_get_xact_tuples_returned(i.inhrelid)), 0)::int
    from pg_inherits as i
   where i.inhparent = 'holdfast.outcome'::regclass`
