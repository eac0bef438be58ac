// Which job runs when: priorities, delays, queues and how many at once.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { heardTimes, useHoldfast } from '../support/holdfast.js'
import { inTransaction } from '../support/own-transaction.js'

const bench = useHoldfast()

/** A type of job that notes the order of its runs. */
function notingJob() {
  const order: string[] = []
  const note = defineJob({ type: 'note', run: (name: string) => void order.push(name) })
  return { order, note }
}

/** A type of job whose runs wait until they are let go, and that counts how many run at once. */
function waitingJob(type: string, queue = 'default') {
  const count = { now: 0, most: 0 }
  const mayEnd = gate()
  const job = defineJob({
    type,
    queue,
    async run() {
      count.now += 1
      count.most = Math.max(count.most, count.now)
      await mayEnd.opened
      count.now -= 1
    },
  })
  return { job, count, letGo: () => mayEnd.open() }
}

test('the lower priority number runs first, and within one the older', async () => {
  const { order, note } = notingJob()
  const holdfast = bench.open({ jobs: [note], concurrency: 1 })
  for (const [name, priority] of [
    ['e', 9],
    ['c', 5],
    ['d', 5],
    ['a', 0],
    ['b', 1],
  ] as const) {
    await holdfast.enqueue(note, name, { priority })
  }
  const done = heardTimes(holdfast, 'job.completed', 5)

  await holdfast.start()
  await done

  expect(order.join('')).toBe('abcde')
})

test('a job with an earlier runAt runs first, however late it was enqueued', async () => {
  const { order, note } = notingJob()
  const holdfast = bench.open({ jobs: [note], concurrency: 1 })
  await holdfast.enqueue(note, 'b')
  await holdfast.enqueue(note, 'a', { runAt: new Date('2001-01-01T00:00:00Z') })
  const done = heardTimes(holdfast, 'job.completed', 2)

  await holdfast.start()
  await done

  expect(order.join('')).toBe('ab')
})

test('a delayed job is not run before it is due', async () => {
  const { order, note } = notingJob()
  const holdfast = bench.open({ jobs: [note], concurrency: 1 })
  const delayed = await holdfast.enqueue(note, 'delayed', { delay: '1h' })
  const future = await holdfast.enqueue(note, 'future', { runAt: new Date('2090-01-01T00:00:00Z') })
  const now = await holdfast.enqueue(note, 'now', { priority: 9 })

  await holdfast.start()
  await now.result()

  expect(order).toEqual(['now'])
  const { state, runAt, createdAt } = await delayed.read()
  expect({ state, waitMs: runAt.getTime() - createdAt.getTime() }).toEqual({ state: 'pending', waitMs: 3_600_000 })
  expect((await future.read()).state).toBe('pending')
  expect(await holdfast.runJob(delayed.id)).toBe(false)
})

test('a delayed job runs when its time has come, without being asked for', async () => {
  const { order, note } = notingJob()
  const holdfast = bench.open({ jobs: [note], poll: '1h' })
  await holdfast.start()

  const now = Date.now()
  const handles = await inTransaction(bench.database, async (tx) => [
    await holdfast.enqueue(note, 'b', { runAt: new Date(now + 400), tx }),
    await holdfast.enqueue(note, 'a', { runAt: new Date(now + 100), tx }),
  ])
  await Promise.all(handles.map((handle) => handle.result()))

  expect(order.join('')).toBe('ab')
})

test('no more jobs of a queue run at once than its concurrency', async () => {
  const { job, count, letGo } = waitingJob('waiting')
  const holdfast = bench.open({ jobs: [job], concurrency: 3 })
  const handles = await holdfast.enqueueMany(job, Array(20).fill(undefined))
  const claimed = heardTimes(holdfast, 'job.claimed', 3)

  await holdfast.start()
  await claimed
  expect(await bench.look('select count(*)::integer as running from holdfast.lease')).toEqual([{ running: 3 }])
  letGo()
  await Promise.all(handles.map((handle) => handle.result()))

  expect(count).toEqual({ now: 0, most: 3 })
})

test('each queue has its own concurrency and does not wait for others', async () => {
  const bulk = waitingJob('bulk', 'bulk')
  const mail = waitingJob('mail', 'mail')
  const holdfast = bench.open({ jobs: [bulk.job, mail.job], queues: { bulk: 1, mail: 2 } })
  const bulky = await holdfast.enqueueMany(bulk.job, Array(3).fill(undefined))
  const mails = await holdfast.enqueueMany(mail.job, Array(5).fill(undefined))
  const claimed = heardTimes(holdfast, 'job.claimed', 3)

  await holdfast.start()
  await claimed
  mail.letGo()
  await Promise.all(mails.map((handle) => handle.result()))
  expect(bulk.count).toEqual({ now: 1, most: 1 })
  bulk.letGo()
  await Promise.all(bulky.map((handle) => handle.result()))

  expect([bulk.count.most, mail.count.most]).toEqual([1, 2])
})

test('a worker serves only the queues it was given', async () => {
  const { order, note } = notingJob()
  const holdfast = bench.open({ jobs: [note], queues: ['one', 'two'] })
  const other = await holdfast.enqueue(note, 'other', { queue: 'three', priority: 0 })
  const handles = [
    await holdfast.enqueue(note, 'first', { queue: 'one' }),
    await holdfast.enqueue(note, 'second', { queue: 'two' }),
  ]

  await holdfast.start()
  await Promise.all(handles.map((handle) => handle.result()))

  expect(order.sort()).toEqual(['first', 'second'])
  expect((await other.read()).state).toBe('pending')
})

test('a worker claims only types that it has a handler for', async () => {
  const { order, note } = notingJob()
  const contract = defineJob({ type: 'elsewhere' })
  const holdfast = bench.open({ jobs: [note, contract] })
  const foreign = await holdfast.enqueue(contract, {}, { priority: 0 })
  const own = await holdfast.enqueue(note, 'own', { priority: 9 })

  await holdfast.start()
  await own.result()

  expect(order).toEqual(['own'])
  expect(await foreign.read()).toMatchObject({ state: 'pending', attempts: 0 })
})
