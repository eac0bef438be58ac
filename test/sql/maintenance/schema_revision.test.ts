// schema_revision: what a program must know before it uses this database.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const REVISION = 'select * from holdfast.schema_revision_v1()'

test('it gives the highest revision and the oldest program that may still use it', async () => {
  const client = await db.connect('admin')
  await client.query('begin')
  await ask(client, `select holdfast.record_migration(901, 'a', 'x', 77), holdfast.record_migration(902, 'b', 'x', 3)`)

  expect(await askRow(client, REVISION)).toEqual({ revision: 902, oldest_program: 77 })
  await client.query('rollback')
})

test('the application may ask', async () => {
  const { revision, oldest_program } = await askRow(db.pool, REVISION)

  expect(revision).toBeGreaterThanOrEqual(oldest_program)
})
