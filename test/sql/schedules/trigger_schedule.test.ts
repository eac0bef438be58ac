// trigger_schedule: a job now, also when the schedule is disabled or not due.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { at, dueAtNine, refusal, schedule, ticks } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('it makes a job now and leaves the next tick alone', async () => {
  const client = await db.connect()
  await dueAtNine(client, { input: { a: 1 }, jitter_ms: 60_000 })
  const id = await askValue<string>(client, `select holdfast.trigger_schedule('hourly', actor => 'ada')`)

  expect(await askRow(client, 'select input, run_at, tags from holdfast.find_job($1)', [id])).toEqual({
    input: { a: 1 },
    run_at: new Date(at('09:00:01')),
    tags: ['schedule:hourly'],
  })
  expect(await schedule(client)).toMatchObject({ next_tick: new Date(at('09:00')) })
  expect(await ticks(client)).toEqual([{ tick: new Date(at('09:00:01')), state: 'fired', job_id: id }])
  expect(await askRow(db.admin, `select actor, job_id from holdfast.audit where action = 'trigger_schedule'`)).toEqual({
    actor: 'ada',
    job_id: id,
  })
})

test('neither a disabled schedule nor an overlap keeps it from that, and each call makes one', async () => {
  const client = await db.connect()
  await dueAtNine(client, { overlap: 'skip' })
  await ask(client, `select holdfast.disable_schedule('hourly')`)
  await ask(client, `select holdfast.trigger_schedule('hourly')`)
  await ask(client, `select holdfast.trigger_schedule('hourly', '{"b": 2}')`)

  expect(await askList(db.admin, 'select input from holdfast.job order by id')).toEqual([{}, { b: 2 }])
})

test('an unknown schedule is refused', async () => {
  expect(await refusal(ask(db.pool, `select holdfast.trigger_schedule('x')`))).toMatchObject({ message: 'job_unknown' })
})
