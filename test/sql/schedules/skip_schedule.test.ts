// skip_schedule: the next tick makes no job.
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { at, dueAtNine, givenSchedule, refusal, ticks } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const SKIP = `select holdfast.skip_schedule('hourly', 'ada')`

test('it names the tick, the same when asked again, and is audited once', async () => {
  const client = await db.connect()
  await dueAtNine(client)

  expect(await askValue(client, SKIP)).toEqual(new Date(at('09:00')))
  expect(await askValue(client, SKIP)).toEqual(new Date(at('09:00')))
  expect(await ticks(client)).toMatchObject([{ state: 'skipped', job_id: null }])
  expect(await askList(db.admin, `select actor from holdfast.audit where action = 'skip_schedule'`)).toEqual(['ada'])
})

test('a schedule without a planned tick, a disabled and an unknown one are refused', async () => {
  expect(await refusal(ask(db.pool, SKIP))).toMatchObject({ message: 'job_unknown' })
  await givenSchedule(db.pool)
  expect(await refusal(ask(db.pool, SKIP))).toMatchObject({ message: 'job_not_due' })
  await ask(db.pool, `select holdfast.disable_schedule('hourly')`)
  expect(await refusal(ask(db.pool, SKIP))).toMatchObject({ message: 'job_disabled' })
})
