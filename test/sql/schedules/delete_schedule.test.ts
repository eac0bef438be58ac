// delete_schedule: the schedule and its history go, its jobs stay.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { dueAtNine, refusal, ticks } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('nothing of it is left but its jobs', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(client, `select * from holdfast.schedule_claim_next('hourly', 'w')`)
  await ask(client, `select holdfast.delete_schedule('hourly', 'ada')`)

  expect(await ask(client, `select * from holdfast.find_schedule('hourly')`)).toEqual([])
  expect(await ticks(client)).toEqual([])
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(1)
  expect(
    await askRow(db.admin, `select actor, details from holdfast.audit where action = 'delete_schedule'`),
  ).toMatchObject({
    actor: 'ada',
    details: { job_key: 'hourly', cron: '0 * * * *' },
  })
})

test('an unknown schedule is refused', async () => {
  expect(await refusal(ask(db.pool, `select holdfast.delete_schedule('x')`))).toMatchObject({ message: 'job_unknown' })
})
