// schema_revision: what a program must know before it uses this database.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const REVISION = 'select * from holdfast.schema_revision_v1()'

test('it gives the highest revision, and the checksum of every migration', async () => {
  const client = await db.connect('admin')
  const first = await askValue(client, 'select checksum from holdfast.migration where revision = 1')
  await client.query('begin')
  await ask(client, `select holdfast.record_migration(902, 'b', 'y'), holdfast.record_migration(901, 'a', 'x')`)

  expect(await askRow(client, REVISION)).toEqual({ revision: 902, checksums: { 1: first, 901: 'x', 902: 'y' } })
  await client.query('rollback')
})

test('the application may ask', async () => {
  expect(await askRow(db.pool, REVISION)).toEqual({
    revision: 1,
    checksums: { 1: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
})
