// schedule_ticks: what ticks have come to, newest first.
import { expect, test } from 'vitest'
import { ask, askList } from '../support/ask.js'
import { at, dueAtNine, givenSchedule, ticks } from '../support/schedules.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()

test('it gives the ticks of one schedule before a moment', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await givenSchedule(client, { job_key: 'other' })
  await ask(client, `select * from holdfast.backfill_schedule('hourly', array[$1, $2]::timestamptz[])`, [
    at('06:00'),
    at('07:00'),
  ])
  await ask(client, `select * from holdfast.schedule_claim_next('hourly', 'w')`)

  expect((await ticks(client)).map(({ tick }) => tick.toISOString())).toEqual([at('09:00'), at('07:00'), at('06:00')])
  expect(await askList(client, `select tick from holdfast.schedule_ticks('hourly', $1, 1)`, [at('09:00')])).toEqual([
    new Date(at('07:00')),
  ])
  expect(await ticks(client, 'other')).toEqual([])
})
