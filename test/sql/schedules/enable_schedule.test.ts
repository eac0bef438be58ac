// enable_schedule: ticks are fired again, those that passed meanwhile are not fired.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { at, dueAtNine, refusal, schedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('an enabled schedule is planned from now on', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(client, `select holdfast.disable_schedule('hourly')`)
  await setClock(client, at('15:30'))

  expect(await askValue(client, `select holdfast.enable_schedule('hourly', 'ada')`)).toBe(true)
  expect(await schedule(client)).toMatchObject({ enabled: true, next_tick: null, counts_from: new Date(at('15:30')) })
  expect(await askRow(db.admin, `select actor from holdfast.audit where action = 'enable_schedule'`)).toEqual({
    actor: 'ada',
  })
})

test('enabling what is enabled changes nothing', async () => {
  const client = await db.connect()
  await dueAtNine(client)

  expect(await askValue(client, `select holdfast.enable_schedule('hourly')`)).toBe(false)
  expect(await schedule(client)).toMatchObject({ next_tick: new Date(at('09:00')) })
})

test('an unknown schedule is refused', async () => {
  expect(await refusal(ask(db.pool, `select holdfast.enable_schedule('x')`))).toMatchObject({ message: 'job_unknown' })
})
