// Claims that are cut off between commit and answer, or before their commit: their jobs do not wait for the end of their leases.
import type pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { type Duration, defineJob } from '../../src/index.js'
import { ask } from '../support/ask.js'
import { gate } from '../support/gate.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { type LossyPool, lossyPool } from '../support/lossy-pool.js'

const bench = useHoldfast()
let lossy: LossyPool | undefined
let blocker: pg.Client | undefined
afterEach(async () => {
  await blocker?.end()
  await bench.closeAll()
  await lossy?.pool.end()
  blocker = undefined
  lossy = undefined
})

/** The lease outlasts the test: waiting for its end does not help. */
function noteWorker({ grace = 0 }: { grace?: Duration } = {}) {
  lossy = lossyPool(bench.database.url)
  const runs: number[] = []
  const note = defineJob({ type: 'note', lease: '10m', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note], database: lossy.pool, grace })
  const faults: string[] = []
  holdfast.on('worker.fault', ({ doing }) => faults.push(doing))
  return { lossy, holdfast, note, runs, faults }
}

const places = () => bench.look('select state, attempts, token from holdfast.jobs')

test('a claim that commits only after a poll did not find it is released all the same', async () => {
  const { lossy, holdfast, note, runs, faults } = noteWorker()
  const handles = await holdfast.enqueueMany(note, [1, 2, 3])
  blocker = await bench.database.connect('admin')
  await ask(blocker, 'begin')
  await ask(blocker, 'lock table holdfast.lease in share mode')
  await holdfast.start()
  await until(async () => (await waitingClaims()) > 0)

  expect(lossy.cutOff('claim_batch_v1')).toBe(1)
  // The second poll is sent after the answer to the first.
  await until(async () => lossy.timesSent('release_claims_v1') > 1)
  expect(faults).toEqual(['claiming from default'])
  expect(await places()).toEqual(Array(3).fill({ state: 'pending', attempts: 0, token: '0' }))
  expect(await waitingClaims()).toBe(1)
  await ask(blocker, 'commit')
  await Promise.all(handles.map((handle) => handle.result()))

  expect(runs.sort()).toEqual([1, 2, 3])
  expect(await places()).toEqual(Array(3).fill({ state: 'completed', attempts: 1, token: '2' }))
  expect(faults).toEqual(['claiming from default'])
})

test('an unacknowledged claim is released when the database answers again', async () => {
  const { lossy, holdfast, note, runs, faults } = noteWorker()
  const handles = await holdfast.enqueueMany(note, [1, 2])
  const lost = [lossy.loseAnswerTo('claim_batch_v1'), lossy.refuse('release_claims_v1')]

  await holdfast.start()
  await Promise.all(lost)
  await Promise.all(handles.map((handle) => handle.result()))

  expect(runs.sort()).toEqual([1, 2])
  expect(faults).toEqual(['claiming from default', 'releasing 1 unacknowledged claims'])
  expect(await places()).toEqual(Array(2).fill({ state: 'completed', attempts: 1, token: '2' }))
})

test('a worker that stops releases the jobs of a claim whose answer was lost meanwhile, if the database answers in the grace', async () => {
  const { lossy, holdfast, note, runs } = noteWorker({ grace: '1m' })
  await holdfast.enqueueMany(note, [1, 2])
  const mayCome = gate()
  lossy.delayAnswerTo('claim_batch_v1', mayCome.opened)
  const lost = [lossy.loseAnswerTo('claim_batch_v1'), lossy.refuse('release_claims_v1')]
  await holdfast.start()
  await until(async () => (await bench.look('select from holdfast.lease')).length === 2)

  const stopped = holdfast.stop()
  mayCome.open()
  await Promise.all(lost)
  await stopped

  expect(await places()).toEqual(Array(2).fill({ state: 'pending', attempts: 0, token: '1' }))
  expect(runs).toEqual([])
})

test('a run by id whose claim got no answer leaves the job pending', async () => {
  const { lossy, holdfast, note, runs } = noteWorker()
  const { id } = await holdfast.enqueue(note, 1)
  const lost = lossy.loseAnswerTo('claim_by_id_v1')

  await expect(holdfast.runJob(id)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  await lost
  await until(async () => (await places())[0]?.state === 'pending')

  expect(await places()).toEqual([{ state: 'pending', attempts: 0, token: '1' }])
  expect(await holdfast.runJob(id)).toBe(true)
  expect(runs).toEqual([1])
})

async function waitingClaims(): Promise<number> {
  const waiting = await bench.look(
    `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%claim_batch_v1%'`,
  )
  return waiting.length
}
