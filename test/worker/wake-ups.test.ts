// How a sleeping worker finds work: NOTIFY is a hint that can be missed, the alarm and the poll find every job.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { heard, until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })
const contract = defineJob({ type: 'echo' })

/** Backends of this database that listen and are idle: their last statement was the LISTEN. */
const LISTENERS = `
  select a.pid from pg_stat_activity as a where a.datname = current_database() and a.query = 'listen "holdfast_wake"'`

/** The worker has recorded that it sleeps until later than an hour from now. */
const asleep = async () =>
  (await bench.look(`select id from holdfast.worker where sleeping_until > clock_timestamp() + interval '1 hour'`))
    .length > 0

test('a sleeping worker that polls once an hour starts a job of another process at once', async () => {
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const producer = bench.open({ jobs: [contract] })
  await worker.start()
  await until(asleep)

  const handle = await producer.enqueue(contract, 'hello')

  expect(await handle.result()).toBe('hello')
})

test('many jobs enqueued one by one while the worker sleeps are all found', async () => {
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const producer = bench.open({ jobs: [contract] })
  await worker.start()

  for (let n = 0; n < 30; n += 1) {
    const handle = await producer.enqueue(contract, n)
    expect(await handle.result()).toBe(n)
  }
})

test('a job whose transaction commits long after it was enqueued is found', async () => {
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const producer = bench.open({ jobs: [contract] })
  await worker.start()
  await until(asleep)
  const client = await bench.database.connect()
  await client.query('begin')
  const handle = await producer.enqueue(contract, 'late', { tx: client })
  const other = await producer.enqueue(contract, 'meanwhile')
  await other.result()
  await until(asleep)

  await client.query('commit')

  expect(await handle.result()).toBe('late')
})

test('a job retried by an operator wakes the worker', async () => {
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const operator = bench.open({ jobs: [contract] })
  const handle = await operator.enqueue(contract, 'again', { delay: '1h' })
  await operator.cancel(handle.id)
  await worker.start()
  await until(asleep)

  await operator.retry(handle.id)

  expect(await handle.result()).toBe('again')
})

test('a resumed queue wakes the worker', async () => {
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const operator = bench.open({ jobs: [contract] })
  await operator.pause('default')
  const handle = await operator.enqueue(contract, 'free')
  await worker.start()
  await until(asleep)

  await operator.resume('default')

  expect(await handle.result()).toBe('free')
})

test('a delayed job of another process falls due while the worker sleeps for longer', async () => {
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const producer = bench.open({ jobs: [contract] })
  await worker.start()
  await until(asleep)

  const handles = await Promise.all([300, 301, 302, 350].map((delay) => producer.enqueue(contract, delay, { delay })))

  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([300, 301, 302, 350])
})

test('without LISTEN the poll finds what another process enqueues', async () => {
  const worker = bench.open({ jobs: [echo], listen: false, poll: '50ms' })
  const producer = bench.open({ jobs: [contract] })
  await worker.start()

  const handle = await producer.enqueue(contract, 'polled')

  expect(await handle.result()).toBe('polled')
  expect(await bench.look(LISTENERS)).toEqual([])
})

test('a worker whose listening connection is killed listens again and misses nothing', async () => {
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const producer = bench.open({ jobs: [contract] })
  await worker.start()
  await until(async () => (await bench.look(LISTENERS)).length === 1)
  const [listener] = await bench.look(LISTENERS)

  const killed = await bench.look('select pg_terminate_backend($1) as killed', [listener?.pid])
  expect(killed).toEqual([{ killed: true }])
  await until(async () => !(await bench.look(LISTENERS)).some(({ pid }) => pid === listener?.pid))
  const meanwhile = await producer.enqueue(contract, 'meanwhile')

  expect(await meanwhile.result()).toBe('meanwhile')
  await until(async () => (await bench.look(LISTENERS)).length === 1)
  await until(asleep)
  const afterwards = await producer.enqueue(contract, 'afterwards')
  expect(await afterwards.result()).toBe('afterwards')
})

test('no notification is sent while no worker sleeps', async () => {
  const producer = bench.open({ jobs: [contract] })
  const client = await bench.database.connect('admin')
  const notified: string[] = []
  client.on('notification', ({ channel }) => notified.push(channel))
  await client.query('listen holdfast_wake')

  await producer.enqueue(contract, 1)
  const worker = bench.open({ jobs: [echo], poll: '1h' })
  const completed = heard(worker, 'job.completed')
  await worker.start()
  await completed
  await until(asleep)
  await client.query('select 1')
  const before = notified.length
  await producer.enqueue(contract, 2)
  await until(async () => {
    await client.query('select 1')
    return notified.length > before
  })

  expect(before).toBe(0)
})
