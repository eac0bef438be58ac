// create_schedule: a schedule made at run time, its settings checked.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { givenSchedule, refusal, schedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('a schedule needs a key, a type and a timing; the rest has defaults', async () => {
  await givenSchedule(db.pool)

  expect(await schedule(db.pool)).toMatchObject({
    type: 'report',
    cron: '0 * * * *',
    every_ms: null,
    timezone: 'UTC',
    input: {},
    input_from_code: false,
    options: {},
    missed: 'last',
    window_ms: '86400000',
    overlap: 'allow',
    gap: null,
    twice: null,
    enabled: true,
    next_tick: null,
    code: null,
    is_edited: false,
  })
})

test('a JSON null is a setting that is not given, but an input', async () => {
  await givenSchedule(db.pool, { cron: null, every_ms: 5000, input: null, ends_at: null })

  expect(await schedule(db.pool)).toMatchObject({ cron: null, every_ms: '5000', input: null, ends_at: null })
  expect(await askRow(db.admin, `select input::text as input from holdfast.schedule`)).toEqual({ input: 'null' })
})

test('the operation is audited', async () => {
  await ask(db.pool, `select holdfast.create_schedule('{"job_key": "k", "type": "t", "every_ms": 1000}', 'ada')`)

  expect(await askRow(db.admin, 'select actor, action, details from holdfast.audit')).toMatchObject({
    actor: 'ada',
    action: 'create_schedule',
    details: { job_key: 'k', every_ms: 1000 },
  })
})

test('a key that is taken is refused', async () => {
  await givenSchedule(db.pool)

  expect(await refusal(givenSchedule(db.pool))).toMatchObject({ code: 'JH005', detail: { job_key: 'hourly' } })
})

test.each([
  ['no timing', { cron: null }],
  ['two timings', { every_ms: 1000 }],
  ['four fields', { cron: '* * * *' }],
  ['seven fields', { cron: '* * * * * * *' }],
  ['a nickname', { cron: '@reboot' }],
  ['a long pattern', { cron: `${'1,'.repeat(60)}1 * * * *` }],
  ['an interval below a second', { cron: null, every_ms: 999 }],
  ['an interval of text', { cron: null, every_ms: '5m' }],
  ['a long key', { job_key: 'k'.repeat(91) }],
  ['an empty key', { job_key: '' }],
  ['an unknown setting', { colour: 'red' }],
  ['an unknown policy', { missed: 'some' }],
  ['an unknown overlap', { overlap: 'maybe' }],
  ['an unknown gap', { gap: 'before' }],
  ['an unknown twice', { twice: 'thrice' }],
  ['a time zone with blanks', { timezone: 'Europe Berlin' }],
  ['an end before the start', { starts_at: '2026-03-02T00:00:00Z', ends_at: '2026-03-01T00:00:00Z' }],
  ['a start that is no moment', { starts_at: 'tomorrow' }],
  ['options of another kind', { options: { run_at: '2026-03-02T00:00:00Z' } }],
  ['a bad option', { options: { priority: 11 } }],
  ['superseding with a key of its own', { overlap: 'supersede', options: { key: 'k' } }],
  ['an input that code computes', { input_from_code: true }],
])('%s is refused', async (_what, settings) => {
  expect(await refusal(givenSchedule(db.pool, settings))).toMatchObject({ code: 'JH005' })
})

test('what is no object is refused', async () => {
  expect(await refusal(ask(db.pool, `select holdfast.create_schedule('[]')`))).toMatchObject({ code: 'JH005' })
})
