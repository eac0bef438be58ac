// start_bulk: a operation on all jobs of a filter is asked for, counted and written down.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const start = (operation: string, filter: object) =>
  ask(db.pool, `select * from holdfast.start_bulk_v1($1, $2, 'why', 'ada')`, [operation, JSON.stringify(filter)])

test('it returns how many jobs match, and the audit has who asked for what', async () => {
  await givenIn(db.pool).finishedJob('failed')
  await givenIn(db.pool).finishedJob('failed', { queue: 'bulk' })

  const [row] = await start('retry', { states: ['failed'], queues: ['bulk'] })

  expect(row).toMatchObject({
    operation: 'retry',
    filter: { states: ['failed'], queues: ['bulk'] },
    reason: 'why',
    asked_by: 'ada',
    state: 'open',
    expected: '1',
    expected_is_capped: false,
    done: '0',
    finished_at: null,
  })
  expect(await askRow(db.admin, 'select actor, action, details from holdfast.audit')).toEqual({
    actor: 'ada',
    action: 'start_bulk',
    details: { bulk: Number(row?.id), operation: 'retry', filter: row?.filter, expected: 1 },
  })
})

test('a span of time becomes a moment, which stays', async () => {
  const client = await db.connect()
  await setClock(client, '2026-03-01T12:00:00Z')

  const row = await askRow(
    client,
    `select filter from holdfast.start_bulk_v1('retry', '{"states": ["failed"], "since_ms": 3600000}')`,
  )

  expect(row.filter).toEqual({ states: ['failed'], since: '2026-03-01T11:00:00+00:00' })
})

test.each([
  ['delete', { states: ['failed'] }],
  ['retry', {}],
  ['retry', { states: [] }],
  ['retry', { states: ['failed', 'running'] }],
  ['cancel', { states: ['completed'] }],
  ['cancel', { queues: ['default'] }],
  ['cancel', { states: ['pending'], colour: 'red' }],
])('%s of %j is refused', async (operation, filter) => {
  await expect(start(operation, filter)).rejects.toMatchObject({ code: 'JH005' })
  expect(await ask(db.admin, 'select from holdfast.audit')).toEqual([])
})
