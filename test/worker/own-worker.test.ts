// A job that its own process holds from the enqueue on, when that process stops or never hears of it.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { ask } from '../support/ask.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { lossyPool } from '../support/lossy-pool.js'

const bench = useHoldfast()

test('a worker that stops while a job is on its way to it gives the job back unrun', async () => {
  const runs: unknown[] = []
  const note = defineJob({ type: 'note', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note] })
  await holdfast.start()
  const blocker = await bench.database.connect('admin')

  const { enqueued, n } = await blockedOnItsWay()
  const stopped = holdfast.stop()
  // Long enough for a stop that does not wait for the job: its last operation takes the worker's row away.
  for (let looks = 0, isThere = true; isThere && looks < 300; looks += 1) {
    isThere = (await bench.look('select from holdfast.worker')).length > 0
  }
  await ask(blocker, 'rollback')
  const handle = await enqueued
  await stopped

  expect(await handle.read()).toMatchObject({ state: 'pending', attempts: 0, lockedBy: null })
  expect(runs).not.toContain(n)

  /** The enqueue waits for the table inside the one statement that also claims. */
  async function blockedOnItsWay() {
    for (let n = 0; ; n += 1) {
      await ask(blocker, 'begin')
      await ask(blocker, 'lock table holdfast.job in exclusive mode')
      const enqueued = holdfast.enqueue(note, n)
      const statement = await waitingStatement()
      if (statement.includes('enqueue_and_claim_one')) return { enqueued, n }
      await ask(blocker, 'rollback')
      await (await enqueued).result()
    }
  }

  async function waitingStatement(): Promise<string> {
    let statement = ''
    await until(async () => {
      const [waiting] = await bench.look(
        `select query from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%enqueue_%'`,
      )
      statement = waiting?.query ?? ''
      return waiting !== undefined
    })
    return statement
  }
})

test('a job whose enqueuer never got the answer runs all the same, once and at once', async () => {
  const { pool, loseAnswerTo } = lossyPool(bench.database.url)
  const runs: number[] = []
  const note = defineJob({ type: 'note', lease: '10m', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note], database: pool })
  await holdfast.start()
  let isLost = false
  void loseAnswerTo('enqueue_and_claim_one_v1').then(() => {
    isLost = true
  })

  let n = 0
  for (; !isLost; n += 1) {
    await holdfast.enqueue(note, n).catch((error) => expect(error.code).toBe('CONNECTION_FAILED'))
    await until(async () => runs.length === n + 1)
  }

  expect(runs.sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i))
  await holdfast.close()
  await pool.end()
})
