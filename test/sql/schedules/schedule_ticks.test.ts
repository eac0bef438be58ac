// schedule_ticks: past ticks, newest first.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { at, dueAtNine, givenSchedule, ticks } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

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

test('ticks go with the retention, a tick that is skipped in advance stays', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(client, `select * from holdfast.backfill_schedule('hourly', array[$1]::timestamptz[])`, [at('07:00')])
  await ask(client, `select holdfast.skip_schedule('hourly')`)
  await ask(db.admin, 'update holdfast.schedule_tick set at = $1', ['2026-01-01T00:00:00Z'])
  await ask(db.admin, `update holdfast.schedule_tick set tick = $1 where state = 'skipped'`, [at('23:00')])
  await setClock(client, at('12:00'))

  await ask(client, `select holdfast.prune_jobs_v1('0 days')`)
  expect(await ticks(client)).toHaveLength(2)
  await setClock(client, '2026-03-03T12:00:00Z')
  await ask(db.admin, `update holdfast.schedule_tick set tick = '2026-03-04T00:00Z' where state = 'skipped'`)
  await ask(client, `select holdfast.prune_jobs_v1('0 days')`)

  expect(await ticks(client)).toMatchObject([{ state: 'skipped' }])
})
