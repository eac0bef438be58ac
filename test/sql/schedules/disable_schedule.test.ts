// disable_schedule: no tick is fired any more.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { dueAtNine, givenSchedule, refusal } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('a disabled schedule is not due', async () => {
  const client = await db.connect()
  await dueAtNine(client)

  expect(await askValue(client, `select holdfast.disable_schedule('hourly', 'ada')`)).toBe(true)
  expect(await ask(client, `select * from holdfast.due_schedules_v1('{}')`)).toEqual([])
  expect(await askRow(db.admin, `select actor from holdfast.audit where action = 'disable_schedule'`)).toEqual({
    actor: 'ada',
  })
})

test('disabling what is disabled changes nothing', async () => {
  await givenSchedule(db.pool)
  await ask(db.pool, `select holdfast.disable_schedule('hourly')`)

  expect(await askValue(db.pool, `select holdfast.disable_schedule('hourly')`)).toBe(false)
})

test('an unknown schedule is refused', async () => {
  expect(await refusal(ask(db.pool, `select holdfast.disable_schedule('x')`))).toMatchObject({ message: 'job_unknown' })
})
