// sleep_worker: a worker stores until when it sleeps and gets when the next job is due.

import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const NOW = '2030-01-01T00:00:00Z'
const sleepingUntil = () => askValue<Date | null>(db.admin, 'select sleeping_until from holdfast.worker')

let client: pg.Client
beforeEach(async () => {
  client = await db.connect()
  await setClock(client, NOW)
  await ask(client, `select holdfast.register_worker_v1('w', 'pod', 1, '1', '{a,b}', '{task}', 1)`)
})
const fallAsleep = (ms: number | null, queues = ['a', 'b']) =>
  askValue<string | null>(client, 'select holdfast.sleep_worker($1, $2, $3)', ['w', queues, ms])

test('the row has until when the worker sleeps, and null while it is awake', async () => {
  await fallAsleep(10_000)
  expect(await sleepingUntil()).toEqual(new Date('2030-01-01T00:00:10Z'))

  await fallAsleep(null)
  expect(await sleepingUntil()).toBeNull()
})

test('with no job ahead there is no answer', async () => {
  expect(await fallAsleep(10_000)).toBeNull()
})

test('the answer is the time until the first job of its queues falls due', async () => {
  await givenIn(client).pendingJob({ queue: 'b', delay: '90s', priority: 0 })
  await givenIn(client).pendingJob({ queue: 'a', delay: '5s', priority: 9 })
  await givenIn(client).pendingJob({ queue: 'other', delay: '1s' })

  expect(await fallAsleep(10_000)).toBe('5000')
  expect(await fallAsleep(10_000, ['b'])).toBe('90000')
})

test('the time is rounded up, so that the worker does not wake too early', async () => {
  await givenIn(client).pendingJob({ queue: 'a', run_at: '2030-01-01T00:00:00.0001Z' })

  expect(await fallAsleep(10_000)).toBe('1')
})

test('a job that is due already or parked is no reason to wake later', async () => {
  await givenIn(client).pendingJob({ queue: 'a' })
  const parked = await givenIn(client).pendingJob({ queue: 'a', delay: '5s', key: 'k' })
  const holder = await givenIn(client).runningJob({ queue: 'a', key: 'k' })
  await ask(db.admin, 'update holdfast.ready set parked = true where job_id = $1', [parked])

  expect(await fallAsleep(10_000)).toBeNull()
  expect(holder.token).toBe('1')
})

test('a worker that is awake gets no due time', async () => {
  await givenIn(client).pendingJob({ queue: 'a', delay: '5s' })

  expect(await fallAsleep(null)).toBeNull()
})

test('a worker without a row still gets its answer', async () => {
  await ask(client, `select holdfast.deregister_worker_v1('w')`)
  await givenIn(client).pendingJob({ queue: 'a', delay: '5s' })

  expect(await fallAsleep(10_000)).toBe('5000')
  expect(await askList(db.admin, 'select id from holdfast.worker')).toEqual([])
})
