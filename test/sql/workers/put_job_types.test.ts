// put_job_types: code describes its types, unless an operator has pinned them.
import { expect, test } from 'vitest'
import { ask, askList, askRow } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const MAIL = {
  type: 'mail',
  queue: 'mails',
  priority: 2,
  max_attempts: 9,
  lease_seconds: 60,
  backoff_base_ms: 500,
  backoff_max_ms: 5000,
}
const put = (...types: object[]) => askList(db.pool, 'select holdfast.put_job_types($1)', [JSON.stringify(types)])
const stored = () =>
  askRow(
    db.admin,
    `select type, queue, priority, max_attempts, lease_seconds, backoff_base_ms::int, backoff_max_ms::int from holdfast.job_type`,
  )

test('a new type is stored as code defines it', async () => {
  expect(await put(MAIL)).toEqual([])
  expect(await stored()).toEqual(MAIL)
})

test('a changed definition is taken over', async () => {
  await put(MAIL)
  await put({ ...MAIL, lease_seconds: 90, queue: 'other' })

  expect(await stored()).toEqual({ ...MAIL, lease_seconds: 90, queue: 'other' })
})

test('an unchanged definition writes nothing', async () => {
  await put(MAIL)
  const before = await askRow(db.admin, 'select xmin, updated_at from holdfast.job_type')

  await put(MAIL)

  expect(await askRow(db.admin, 'select xmin, updated_at from holdfast.job_type')).toEqual(before)
})

test('a pinned type is left alone and named when it differs', async () => {
  await put(MAIL)
  await ask(db.pool, `select holdfast.pin_job_type('mail', '{"lease_seconds": 600}')`)

  expect(await put(MAIL, { ...MAIL, type: 'fax' })).toEqual(['mail'])
  expect(await askRow(db.admin, `select lease_seconds from holdfast.job_type where type = 'mail'`)).toEqual({
    lease_seconds: 600,
  })
})

test('a pinned type that agrees with code is not named', async () => {
  await put(MAIL)
  await ask(db.pool, `select holdfast.pin_job_type('mail', '{"lease_seconds": 60}')`)

  expect(await put(MAIL)).toEqual([])
})

test('two workers that describe the same types in opposite orders do not deadlock', async () => {
  const types = Array.from({ length: 30 }, (_, i) => ({ ...MAIL, type: `t${i}` }))

  for (let i = 1; i <= 5; i += 1) {
    const changed = types.map((type) => ({ ...type, lease_seconds: i }))
    await Promise.all([put(...changed), put(...changed.toReversed()), put(...changed)])
  }

  expect(await ask(db.admin, 'select distinct lease_seconds from holdfast.job_type')).toEqual([{ lease_seconds: 5 }])
})
