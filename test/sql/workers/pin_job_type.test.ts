// pin_job_type: an operator's settings of a type win over those in code.
import { beforeEach, expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const PIN = 'select holdfast.pin_job_type($1, $2, $3)'
const CODE =
  '[{"type": "mail", "queue": "mails", "priority": 2, "max_attempts": 9, "lease_seconds": 60, "backoff_base_ms": 500, "backoff_max_ms": 5000}]'

beforeEach(async () => {
  await ask(db.pool, 'select holdfast.put_job_types_v1($1)', [CODE])
})

test('named settings change, others stay, and the type is pinned', async () => {
  await ask(db.pool, PIN, ['mail', '{"lease_seconds": 600, "queue": "slow"}', 'ops'])

  expect(await askRow(db.admin, 'select queue, priority, lease_seconds, pinned from holdfast.job_type')).toEqual({
    queue: 'slow',
    priority: 2,
    lease_seconds: 600,
    pinned: true,
  })
})

test('the next claim uses the pinned lease', async () => {
  await ask(db.pool, PIN, ['mail', '{"lease_seconds": 600}', null])

  expect(await askValue(db.pool, `select holdfast.lease_seconds('mail')`)).toBe(600)
})

test('null gives the type back to code, which rewrites it at its next start', async () => {
  await ask(db.pool, PIN, ['mail', '{"lease_seconds": 600}', null])
  await ask(db.pool, PIN, ['mail', null, null])
  await ask(db.pool, 'select holdfast.put_job_types_v1($1)', [CODE])

  expect(await askRow(db.admin, 'select lease_seconds, pinned from holdfast.job_type')).toEqual({
    lease_seconds: 60,
    pinned: false,
  })
})

test('it is written down', async () => {
  await ask(db.pool, PIN, ['mail', '{"priority": 0}', 'ops'])

  expect(await askRow(db.admin, 'select actor, action, details from holdfast.audit')).toEqual({
    actor: 'ops',
    action: 'pin_job_type',
    details: { type: 'mail', settings: { priority: 0 } },
  })
})

test.each([
  ['a type that nobody has described', 'fax', '{}'],
  ['a setting that is none', 'mail', '{"color": "red"}'],
  ['settings that are no object', 'mail', '[]'],
  ['an empty queue', 'mail', '{"queue": ""}'],
  ['a priority that no job can have', 'mail', '{"priority": 10}'],
  ['a priority that is no number', 'mail', '{"priority": "high"}'],
  ['no attempts', 'mail', '{"max_attempts": 0}'],
  ['too many attempts', 'mail', '{"max_attempts": 1001}'],
  ['a lease of no time', 'mail', '{"lease_seconds": 0}'],
  ['a lease of more than a day', 'mail', '{"lease_seconds": 86401}'],
  ['a negative backoff', 'mail', '{"backoff_base_ms": -1}'],
  ['a base above the maximum', 'mail', '{"backoff_base_ms": 6000}'],
  ['a maximum below the base', 'mail', '{"backoff_max_ms": 400}'],
  ['a setting of null', 'mail', '{"queue": null}'],
])('%s is refused by its code and changes nothing', async (_what, type, settings) => {
  const before = await askRow(db.admin, 'select * from holdfast.job_type')

  await expect(ask(db.pool, PIN, [type, settings, null])).rejects.toMatchObject({ code: 'JH005' })

  expect(await askRow(db.admin, 'select * from holdfast.job_type')).toEqual(before)
})
