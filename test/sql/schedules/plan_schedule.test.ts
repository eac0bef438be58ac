// plan_schedule: one worker stores when the next tick is.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { at, dueAtNine, givenSchedule, plan, schedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const planned = (session: Parameters<typeof ask>[0], version: number, tick: string) =>
  askValue<boolean>(session, `select holdfast.plan_schedule_v1('hourly', $1, $2)`, [version, tick])

test('the first plan is stored, the second is refused', async () => {
  const client = await db.connect()
  await setClock(client, at('08:30'))
  await givenSchedule(client)

  expect(await planned(client, 1, at('09:00'))).toBe(true)
  expect(await planned(client, 1, at('09:30'))).toBe(false)
  expect(await schedule(client)).toMatchObject({ next_tick: new Date(at('09:00')) })
})

test('a plan by an older timing is refused', async () => {
  const client = await db.connect()
  await setClock(client, at('08:30'))
  await givenSchedule(client)
  await ask(client, `select holdfast.update_schedule('hourly', '{"cron": "5 * * * *"}')`)

  expect(await planned(client, 1, at('09:00'))).toBe(false)
  expect(await planned(client, 2, at('09:05'))).toBe(true)
})

test('a tick of the past is refused', async () => {
  const client = await db.connect()
  await setClock(client, at('08:30'))
  await givenSchedule(client)

  expect(await planned(client, 1, at('08:30'))).toBe(false)
})

test('a plan that would have to wait is refused', async () => {
  const [one, two] = [await db.connect(), await db.connect()]
  await givenSchedule(one)
  await one.query('begin')
  await ask(one, `select holdfast.disable_schedule('hourly')`)

  expect(await planned(two, 1, 'infinity')).toBe(false)
  await one.query('rollback')
})

test('a lock that a call by hand has left does not outlast the tick', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(client, `select * from holdfast.schedule_claim_next('hourly', 'psql')`)
  await plan(client, at('09:00:10'))

  expect(await schedule(client)).toMatchObject({ locked_until: new Date(at('09:00:10')) })
})

test('a tick has milliseconds at most, so that every client can name it', async () => {
  const client = await db.connect()
  await setClock(client, at('08:30'))
  await givenSchedule(client)
  await planned(client, 1, '2026-03-02T09:00:00.123456Z')

  expect(
    await askValue(client, `select next_tick = '2026-03-02T09:00:00.123Z' from holdfast.find_schedule('hourly')`),
  ).toBe(true)
  expect(await planned(client, 1, 'infinity')).toBe(false)
})
