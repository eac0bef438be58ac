// now: the wall clock, unless the session says otherwise.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const NOW = 'select holdfast.now()'

test('without a setting it is the wall clock, which goes on inside a transaction', async () => {
  const client = await db.connect()
  await client.query('begin')

  const first = await askValue<string>(client, 'select holdfast.now()::text')
  const goesOn =
    'select now() < $1::timestamptz and $1::timestamptz < holdfast.now() and holdfast.now() <= clock_timestamp()'

  expect(await askValue(client, goesOn, [first])).toBe(true)
})

test('a session can set its clock, and only its own', async () => {
  const [faked, other] = [await db.connect(), await db.connect()]

  await setClock(faked, '2030-01-01T00:00:00Z')

  expect(await askValue(faked, NOW)).toEqual(new Date('2030-01-01T00:00:00Z'))
  expect(await askValue(other, 'select holdfast.now() between now() and clock_timestamp()')).toBe(true)
})

test('taking the setting back gives the wall clock again', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  await setClock(client, null)

  expect(await askValue(client, 'select holdfast.now() between now() and clock_timestamp()')).toBe(true)
})

test('functions that run as the owner keep the clock of the session', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  await ask(client, `select holdfast.enqueue('task')`)

  expect(await askValue(db.admin, 'select created_at from holdfast.job')).toEqual(new Date('2030-01-01T00:00:00Z'))
})
