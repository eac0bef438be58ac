// lease_seconds: one mapping from type to lease, for claims, renewals and people.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const describeType = (type: string, lease_seconds: number) =>
  ask(db.pool, 'select holdfast.put_job_types_v1($1)', [
    JSON.stringify([
      { type, lease_seconds, queue: 'default', priority: 5, max_attempts: 3, backoff_base_ms: 1, backoff_max_ms: 1 },
    ]),
  ])

test('a type that nobody has described has 30 seconds', async () => {
  expect(await askValue(db.pool, `select holdfast.lease_seconds('unknown')`)).toBe(30)
})

test('a described type has what its row says', async () => {
  await describeType('long', 3600)

  expect(await askValue(db.pool, `select holdfast.lease_seconds('long')`)).toBe(3600)
})

test('many types are asked for at once, with nulls and repeats among them', async () => {
  await describeType('long', 3600)

  expect(await askValue(db.admin, `select holdfast.lease_seconds_by_type('{long, other, long, null}')`)).toEqual({
    long: 3600,
    other: 30,
  })
  expect(await askValue(db.admin, `select holdfast.lease_seconds_by_type('{}')`)).toEqual({})
})
