// update_schedule: an operator's settings win over those in code until they are given back.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { setClock } from '../../support/clock.js'
import { at, dueAtNine, givenSchedule, refusal, schedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const CODE = { job_key: 'hourly', type: 'report', cron: '0 * * * *' }
const update = (changes: object | null, session: Parameters<typeof ask>[0] = db.pool) =>
  ask(session, `select holdfast.update_schedule('hourly', $1, 'ada')`, [changes && JSON.stringify(changes)])
const put = (settings: object = CODE) =>
  ask(db.pool, 'select holdfast.put_schedules_v1($1)', [JSON.stringify([settings])])

test('what is not named stays', async () => {
  await givenSchedule(db.pool, { input: { a: 1 }, timezone: 'Europe/Berlin' })
  await update({ missed: 'all' })

  expect(await schedule(db.pool)).toMatchObject({
    missed: 'all',
    input: { a: 1 },
    timezone: 'Europe/Berlin',
    version: '1',
  })
})

test('a change of timing makes a new version, and ticks are planned from now on', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await setClock(client, at('09:30'))
  await update({ cron: '15 * * * *' }, client)

  expect(await schedule(client)).toMatchObject({
    version: '2',
    next_tick: null,
    counts_from: new Date(at('09:30')),
  })
})

test('another setting leaves the planned tick alone', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await update({ input: { b: 2 }, jitter_ms: 5 }, client)

  expect(await schedule(client)).toMatchObject({ version: '1', next_tick: new Date(at('09:00')), input: { b: 2 } })
})

test('an interval takes the place of a pattern and the other way round', async () => {
  await givenSchedule(db.pool)
  await update({ every_ms: 5000 })
  expect(await schedule(db.pool)).toMatchObject({ cron: null, every_ms: '5000' })

  await update({ cron: '* * * * *' })
  expect(await schedule(db.pool)).toMatchObject({ cron: '* * * * *', every_ms: null })
})

test('a change of what code defines is shown, and null gives it back', async () => {
  await put()
  await update({ cron: '5 * * * *' })
  expect(await schedule(db.pool)).toMatchObject({ cron: '5 * * * *', is_edited: true, code: { cron: '0 * * * *' } })

  await update(null)
  expect(await schedule(db.pool)).toMatchObject({ cron: '0 * * * *', is_edited: false })
})

test('a change back to the definition in code is no edit any more', async () => {
  await put()
  await update({ cron: '5 * * * *' })
  await update({ cron: '0 * * * *' })

  expect(await schedule(db.pool)).toMatchObject({ is_edited: false })
})

test('an input replaces one that code computes', async () => {
  await put({ ...CODE, input_from_code: true })
  await update({ input: { by: 'hand' } })

  expect(await schedule(db.pool)).toMatchObject({ input: { by: 'hand' }, input_from_code: false, is_edited: true })
})

test('the operation is audited', async () => {
  await givenSchedule(db.pool)
  await update({ missed: 'skip' })

  expect(await askRow(db.admin, `select actor, details from holdfast.audit where action = 'update_schedule'`)).toEqual({
    actor: 'ada',
    details: { job_key: 'hourly', changes: { missed: 'skip' } },
  })
})

test.each([[{ missed: 'some' }], [{ job_key: 'other' }], [{ input_from_code: true }], [[]]])(
  'changes of %j are refused',
  async (changes) => {
    await givenSchedule(db.pool)
    expect(await refusal(update(changes))).toMatchObject({ code: 'JH005' })
  },
)

test('a schedule that code does not define cannot be given back to it', async () => {
  await givenSchedule(db.pool)
  expect(await refusal(update(null))).toMatchObject({ code: 'JH005' })
})

test('an unknown schedule is refused', async () => {
  expect(await refusal(update({}))).toMatchObject({ code: 'JH014', message: 'job_unknown' })
})

test('two operators take turns', async () => {
  const [one, two] = [await db.connect(), await db.connect()]
  await givenSchedule(one)
  const pid = await pidOf(two)
  await one.query('begin')
  await update({ missed: 'all' }, one)
  const second = update({ overlap: 'skip' }, two)
  await waitUntilBlocked(db.admin, pid)
  await one.query('commit')
  await second

  expect(await schedule(db.pool)).toMatchObject({ missed: 'all', overlap: 'skip' })
})
