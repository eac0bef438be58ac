// A job that is claimed at once for its own process, when that process stops or never gets the answer.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { ask } from '../support/ask.js'
import { heard, until, useHoldfast } from '../support/holdfast.js'
import { lossyPool } from '../support/lossy-pool.js'

const bench = useHoldfast()

/** The one statement that enqueues and claims waits for the table. */
const WAITING = `
  select from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock' and query like '%enqueue_and_claim%'`

test('a worker that stops while a job is on its way to it releases the job unrun', async () => {
  const runs: unknown[] = []
  const note = defineJob({ type: 'note', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note] })
  const asleep = heard(holdfast, 'worker.asleep')
  await holdfast.start()
  await asleep
  const blocker = await bench.database.connect('admin')
  await ask(blocker, 'begin')
  await ask(blocker, 'lock table holdfast.job in exclusive mode')
  const enqueued = holdfast.enqueue(note, 1)
  await until(async () => (await bench.look(WAITING)).length === 1)

  const stopped = holdfast.stop()
  // Long enough for a stop that does not wait for the job: its last operation removes the worker's row.
  for (let polls = 0, isThere = true; isThere && polls < 300; polls += 1) {
    isThere = (await bench.look('select from holdfast.worker')).length > 0
  }
  await ask(blocker, 'rollback')
  const handle = await enqueued
  await stopped

  expect(await handle.read()).toMatchObject({ state: 'pending', attempts: 0, lockedBy: null })
  expect(runs).toEqual([])
})

test('a job whose enqueuer never got the answer runs all the same, once and at once', async () => {
  const { pool, loseAnswerTo } = lossyPool(bench.database.url)
  const runs: number[] = []
  const note = defineJob({ type: 'note', lease: '10m', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note], database: pool })
  const asleep = heard(holdfast, 'worker.asleep')
  await holdfast.start()
  await asleep
  const completed = heard(holdfast, 'job.completed')
  const lost = loseAnswerTo('enqueue_and_claim_v1')

  await expect(holdfast.enqueue(note, 1)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  await lost
  await completed

  expect(runs).toEqual([1])
  await holdfast.close()
  await pool.end()
})
