// claim_by_id: a worker's claim of one job, in the form of its other claims. What both forms refuse is in claim_one.test.ts.
import { expect, test } from 'vitest'
import { askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const CLAIM = 'select holdfast.claim_by_id_v1($1, $2, $3)'

test('gives the job in columns', async () => {
  const id = await given().pendingJob({ input: { a: 1 }, key: 'k' })

  expect(await askValue(db.pool, CLAIM, [id, 'w', ['task']])).toMatchObject({
    id,
    input: [{ a: 1 }],
    usual: { token: '1', key: 'k' },
  })
})

test('gives null for a job of a type that is not wanted, and leaves it pending', async () => {
  const id = await given().pendingJob()

  expect(await askValue(db.pool, CLAIM, [id, 'w', ['other']])).toBeNull()
  expect(await askValue(db.pool, CLAIM, [id, 'w', null])).toMatchObject({ id })
})
