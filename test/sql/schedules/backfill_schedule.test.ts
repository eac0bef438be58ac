// backfill_schedule: ticks of the past that have made no job get one, once.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { at, dueAtNine, refusal, schedule, ticks } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const BACKFILL = `select tick, job_id from holdfast.backfill_schedule('hourly', $1, $2::jsonb[], actor => 'ada')`

test('each tick gets its job, with its own input where given, and asking again makes none', async () => {
  const client = await db.connect()
  await dueAtNine(client, { overlap: 'skip' })
  const range = [at('06:00'), at('07:00')]
  const made = await ask(client, BACKFILL, [range, ['{"n": 6}', '{"n": 7}']])

  expect(made.map(({ tick }) => tick.toISOString())).toEqual(range)
  expect(await askList(db.admin, 'select input from holdfast.job order by id')).toEqual([{ n: 6 }, { n: 7 }])
  expect(await ask(client, BACKFILL, [range, null])).toEqual([])
  expect(await schedule(client)).toMatchObject({ next_tick: new Date(at('09:00')) })
  expect(
    await askList(
      db.admin,
      `select details ->> 'jobs' from holdfast.audit where action = 'backfill_schedule' order by id`,
    ),
  ).toEqual(['2', '0'])
})

test('a tick that was missed or skipped gets its job, one that was fired does not', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await setClock(client, at('11:10'))
  await ask(client, `select * from holdfast.schedule_claim_next('hourly', 'w', null, $1, $2, null, $3)`, [
    at('12:00'),
    [at('11:00')],
    [at('09:00'), at('10:00')],
  ])

  const made = await ask(client, BACKFILL, [[at('09:00'), at('10:00'), at('11:00')], null])

  expect(made.map(({ tick }) => tick.toISOString())).toEqual([at('09:00'), at('10:00')])
  expect((await ticks(client)).map(({ state }) => state)).toEqual(['fired', 'fired', 'fired'])
})

test('the future cannot be backfilled', async () => {
  const client = await db.connect()
  await dueAtNine(client)

  expect(await refusal(ask(client, BACKFILL, [[at('10:00')], null]))).toMatchObject({ code: 'JH005' })
})
