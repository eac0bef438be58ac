// fault_schedule: why a tick could not be fired is there to be seen, and the schedule rests ever longer.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { at, dueAtNine, givenSchedule, schedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const fault = (session: Parameters<typeof ask>[0], tick: string | null, version = 1) =>
  askValue<boolean>(
    session,
    `select holdfast.fault_schedule_v1('hourly', $1, $2, 'w', '{"name": "E", "message": "no"}')`,
    [version, tick],
  )

test('the fault is stored, the tick stays due, and the delay doubles up to a minute', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  const rests: number[] = []
  for (let i = 0; i < 8; i += 1) {
    expect(await fault(client, at('09:00'))).toBe(true)
    rests.push((await schedule(client)).locked_until.getTime() - Date.parse(at('09:00:01')))
  }

  expect(rests).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  expect(await schedule(client)).toMatchObject({
    next_tick: new Date(at('09:00')),
    fault: { times: 8, worker: 'w', error: { name: 'E', message: 'no' } },
  })
})

test('the delay of another tick begins with a second', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await fault(client, at('09:00'))
  await ask(db.admin, 'update holdfast.schedule set next_tick = $1', [at('10:00')])
  await fault(client, at('10:00'))

  expect(await schedule(client)).toMatchObject({ fault: { times: 1 } })
})

test('a schedule that cannot be planned has its fault too', async () => {
  await givenSchedule(db.pool)

  expect(await fault(db.pool, null)).toBe(true)
  expect(await schedule(db.pool)).toMatchObject({ fault: { tick: null, times: 1 } })
})

test('a schedule that has changed meanwhile is left alone', async () => {
  const client = await db.connect()
  await dueAtNine(client)

  expect(await fault(client, at('08:00'))).toBe(false)
  expect(await fault(client, at('09:00'), 2)).toBe(false)
  expect(await schedule(client)).toMatchObject({ fault: null })
})

test('a tick that is fired at last clears the fault', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await fault(client, at('09:00'))
  await setClock(client, at('09:00:05'))
  await ask(client, `select * from holdfast.schedule_claim_next('hourly', 'w')`)

  expect(await schedule(client)).toMatchObject({ fault: null })
})
