// Two workers and one tick: one fires it, the other is refused, in every order of their operations and commits.
import type pg from 'pg'
import { expect, test } from 'vitest'
import { ask, askValue } from '../support/ask.js'
import { refuseToWait } from '../support/blocked.js'
import { setClock } from '../support/clock.js'
import { at, dueAtNine, givenSchedule, schedule } from '../support/schedules.js'
import { useDatabase } from '../support/use-database.js'
import { interleavings } from './harness.js'

const db = useDatabase()
const REFUSED = ['JH011', 'JH012'] // job_locked, job_not_due
type Told = { step: string; code: string | undefined }

/** A claim as a worker makes it: it expects 09:00 and plans the next. */
const CLAIM = `select * from holdfast.schedule_claim_next('hourly', 'w', $1, $2)`

/** Every order of begin, claim and commit of two workers, of which each plans its own next tick. */
async function race(...nextTicks: string[]): Promise<Told[][]> {
  const clients = await Promise.all(nextTicks.map(() => db.connect()))
  const stage = await db.connect()
  for (const client of clients) {
    await setClock(client, at('09:00:01'))
    await refuseToWait(client)
  }
  const plays: Told[][] = []
  for (const order of interleavings(clients.map(() => 3))) {
    await ask(db.admin, 'delete from holdfast.schedule_tick')
    await ask(db.admin, 'delete from holdfast.schedule')
    await dueAtNine(stage)
    plays.push(await play(clients, nextTicks, order))
    const jobs = await ask(db.admin, 'select tick, state from holdfast.schedule_tick where job_id is not null')
    expect(jobs, String(order)).toEqual([{ tick: new Date(at('09:00')), state: 'fired' }])
  }
  return plays
}

async function play(clients: pg.Client[], nextTicks: string[], order: number[]): Promise<Told[]> {
  const told: Told[] = []
  const place = clients.map(() => 0)
  for (const turn of order) {
    const step = ['begin', 'claim', 'commit'][place[turn] ?? 0] ?? ''
    place[turn] = (place[turn] ?? 0) + 1
    const values = step === 'claim' ? [at('09:00'), nextTicks[turn]] : []
    const call = ask(clients[turn] as pg.Client, step === 'claim' ? CLAIM : step, values)
    const code = await call.then(
      () => undefined,
      (error) => error.code,
    )
    told.push({ step, code })
  }
  return told
}

const claims = (told: readonly Told[]) => told.filter(({ step }) => step === 'claim')

test('of two claims one fires and one is refused, and neither waits', async () => {
  const plays = await race(at('10:00'), at('10:00'))

  expect(plays).toHaveLength(20)
  for (const told of plays) {
    expect(claims(told).filter(({ code }) => code === undefined)).toHaveLength(1)
    expect(claims(told).filter(({ code }) => REFUSED.includes(code ?? ''))).toHaveLength(1)
  }
})

test('two releases of code that plan differently fire the tick once', async () => {
  const plays = await race(at('10:00'), at('09:30'))

  for (const told of plays) expect(claims(told).filter(({ code }) => code === undefined)).toHaveLength(1)
})

test('a claim that is rolled back leaves the tick to another', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(client, 'begin')
  await ask(client, CLAIM, [at('09:00'), at('10:00')])
  await ask(client, 'rollback')

  expect(await ask(client, CLAIM, [at('09:00'), at('10:00')])).toMatchObject([{ state: 'fired' }])
})

test('a stale caller, who read the schedule before another fired it, is refused after the lock is over', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(client, CLAIM, [at('09:00'), at('09:00:02')])
  await setClock(client, at('09:30'))

  const stale = await ask(client, CLAIM, [at('09:00'), at('10:00')]).catch((error) => error)

  expect(stale).toMatchObject({ code: 'JH012', message: 'job_not_due' })
  expect(await schedule(client)).toMatchObject({ next_tick: new Date(at('09:00:02')) })
})

test('an operator who changes the timing while a worker has computed the old one keeps his word', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  const { version } = await schedule(client)
  await ask(client, `select holdfast.update_schedule('hourly', '{"cron": "30 * * * *"}')`)
  await ask(db.admin, `update holdfast.schedule set counts_from = $1`, [at('08:00')])
  await ask(client, `select holdfast.plan_schedule_v1('hourly', $1, $2)`, [Number(version) + 1, at('09:00')])

  const late = await ask(client, `select * from holdfast.schedule_claim_next('hourly', 'w', $1, $2, version => $3)`, [
    at('09:00'),
    at('10:00'),
    version,
  ]).catch((error) => error)

  expect(late).toMatchObject({ code: 'JH012' })
})

test('forty claims at once on ten schedules make ten jobs', async () => {
  const stage = await db.connect()
  await setClock(stage, at('08:30'))
  const keys = Array.from({ length: 10 }, (_, i) => `k${i}`)
  for (const job_key of keys) {
    await givenSchedule(stage, { job_key })
    await ask(stage, `select holdfast.plan_schedule_v1($1, 1, $2)`, [job_key, at('09:00')])
  }
  const clients = await Promise.all(Array.from({ length: 4 }, () => db.connect()))
  const codes = await Promise.all(
    clients.map(async (client) => {
      await setClock(client, at('09:00:01'))
      const seen: string[] = []
      for (const key of keys) {
        const call = ask(client, `select * from holdfast.schedule_claim_next($1, 'w', null, $2)`, [key, at('10:00')])
        seen.push(
          await call.then(
            () => 'fired',
            (error) => error.message,
          ),
        )
      }
      return seen
    }),
  )

  expect(codes.flat().filter((code) => code === 'fired')).toHaveLength(10)
  expect(new Set(codes.flat())).toEqual(new Set(['fired', 'job_locked']))
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(10)
})
