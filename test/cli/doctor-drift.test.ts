// `holdfast doctor --fix-sql`: a schema that was changed by hand is told line by line, and the printed statements lead back.
import { expect, test } from 'vitest'
import { ask } from '../support/ask.js'
import { holdfast } from '../support/command-line.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()

async function drift(): Promise<string[]> {
  const { stdout } = await holdfast(['doctor', '--database', db.whole.adminUrl])
  return stdout.split('\n').filter((line) => line.slice(6).startsWith('schema drift:'))
}

test('tables, indexes, constraints and functions that differ are told, and the printed statements repair them', async () => {
  await ask(db.admin, 'drop index holdfast.ready_quarantined')
  await ask(db.admin, 'alter table holdfast.ready drop constraint attempts_are_left')
  await ask(db.admin, 'alter table holdfast.ready alter column crashes drop default')
  await ask(db.admin, 'alter table holdfast.job_type drop column pinned')
  await ask(db.admin, 'alter table holdfast.lease set (fillfactor = 100)')
  await ask(db.admin, 'create index mine on holdfast.job (queue)')
  await ask(
    db.admin,
    `create or replace function holdfast.state_of(p_job_id bigint) returns text language sql stable as $$ select 'pending' $$`,
  )

  const found = await drift()
  const { stdout: repair } = await holdfast(['doctor', '--fix-sql', '--json', '--database', db.whole.adminUrl])

  expect(found).toEqual([
    'fail  schema drift: column pinned of job_type is missing',
    expect.stringMatching(/^fail .* table lease is with \(.*, fillfactor=100\), not with \(.*, fillfactor=90\)$/),
    'fail  schema drift: column crashes of ready is smallint not null, not smallint not null default 0',
    'fail  schema drift: constraint attempts_are_left of ready is missing',
    'fail  schema drift: index ready_quarantined of ready is missing',
    'warn  schema drift: index mine of job is not Holdfast’s',
    'fail  schema drift: function state_of has another body than this program’s',
  ])
  for (const statement of JSON.parse(repair) as string[]) await ask(db.admin, statement)
  expect(await drift()).toEqual(['warn  schema drift: index mine of job is not Holdfast’s'])
})
