// due_schedules: what needs a worker now, and when the next one will.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { at, dueAtNine, givenSchedule, plan } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const due = (session: Parameters<typeof ask>[0], known: string[] = []) =>
  askList<string>(session, 'select job_key from holdfast.due_schedules_v1($1)', [known])

test('a schedule that is not planned needs a worker', async () => {
  await givenSchedule(db.pool)
  expect(await due(db.pool)).toEqual(['hourly'])
})

test('first what is due, then the first of those that will be', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  for (const [job_key, tick] of [
    ['later', '12:00'],
    ['soon', '10:00'],
  ] as const) {
    await givenSchedule(client, { job_key })
    await setClock(client, at('09:00:01'))
    await ask(db.admin, 'update holdfast.schedule set counts_from = $1', [at('08:00')])
    await plan(client, at(tick), job_key)
  }

  expect(await due(client)).toEqual(['hourly', 'soon'])
})

test('a schedule that is locked is due when its lock is over', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(db.admin, `update holdfast.schedule set locked_until = $1`, [at('09:00:05')])
  const columns = 'select greatest(next_tick, locked_until) > holdfast.now() as later from'

  expect(await ask(client, `${columns} holdfast.due_schedules_v1('{}')`)).toEqual([{ later: true }])
  await setClock(client, at('09:00:05'))
  expect(await ask(client, `${columns} holdfast.due_schedules_v1('{}')`)).toEqual([{ later: false }])
})

test('an input that code computes needs a worker with the definition', async () => {
  await ask(db.pool, 'select holdfast.put_schedules_v1($1)', [
    '[{"job_key": "coded", "type": "t", "every_ms": 1000, "input_from_code": true}]',
  ])

  expect(await due(db.pool)).toEqual([])
  expect(await due(db.pool, ['other', 'coded'])).toEqual(['coded'])
})
