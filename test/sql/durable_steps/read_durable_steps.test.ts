// read_durable_steps: a handler's memory, in order, with what is over and what is not.
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('steps, sleeps and waits come in the order in which they were written', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  const lease = await givenIn(client).runningJob()
  await ask(client, `select holdfast.store_durable_step($1, $2, $3, 'charge', '7')`, Object.values(lease))
  await setClock(client, '2030-01-01T00:00:01Z')
  const waits = [
    { kind: 'event', name: 'paid', event: 'order 7 paid', delay_ms: 60_000 },
    { kind: 'sleep', name: 'nap', delay_ms: 1000 },
  ]
  await ask(client, 'select * from holdfast.suspend_jobs($1)', [settlement({ ...lease, waits })])
  const read = () =>
    ask(client, 'select kind, name, output, is_over, event from holdfast.read_durable_steps($1)', [lease.job_id])

  const charge = { kind: 'step', name: 'charge', output: 7, is_over: true, event: null }
  const paid = { kind: 'event', name: 'paid', output: null, is_over: false, event: 'order 7 paid' }
  const nap = { kind: 'sleep', name: 'nap', output: null, is_over: false, event: null }
  expect(await read()).toEqual([charge, paid, nap])
  await setClock(client, '2030-01-01T00:00:02Z')
  expect(await read()).toEqual([charge, paid, { ...nap, is_over: true }])
})

test('a job without steps has none, and so has one that does not exist', async () => {
  const id = await givenIn(db.pool).pendingJob()

  expect(await ask(db.pool, 'select * from holdfast.read_durable_steps($1)', [id])).toEqual([])
  expect(await ask(db.pool, 'select * from holdfast.read_durable_steps(99999)')).toEqual([])
})
