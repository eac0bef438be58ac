// Leases while the event loop of their worker is blocked, and cancelling what another process runs.
import { expect, test } from 'vitest'
import { useFleet } from '../support/fleet.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const fleet = useFleet(bench)

/** One worker is blocked with neighbours in flight; another is there to reap. */
async function blockOne(options: Record<string, unknown>) {
  const blocked = await fleet.startWorker({ lease: '3s', options })
  const effects = await fleet.enqueue(3, { type: 'effect', input: { beforeMs: 3000 } })
  const blocks = await fleet.enqueue(1, { type: 'block', input: { afterMs: 2500, ms: 5500 } })
  const ids = [...effects, ...blocks]
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'running'))
  const reaper = await fleet.startWorker({ lease: '3s' })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'completed'))
  return { blocked, reaper, ids, effects }
}

test('a handler that blocks the event loop for longer than its lease keeps it, and so do its neighbours', async () => {
  const { blocked, reaper, ids } = await blockOne({})

  expect(reaper.told('job.reaped')).toEqual([])
  expect(blocked.told('job.lost')).toEqual([])
  expect(await fleet.jobs(ids)).toEqual(ids.map((id) => expect.objectContaining({ id, attempts: 1 })))
})

test('a job that was claimed alone and blocks the event loop from its start keeps its lease too', async () => {
  const blocked = await fleet.startWorker({ lease: '4s' })
  const ids = await fleet.enqueue(1, { type: 'block', input: { afterMs: 0, ms: 6000 } })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'running'))
  const reaper = await fleet.startWorker({ lease: '4s' })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'completed'))

  expect(reaper.told('job.reaped')).toEqual([])
  expect(blocked.told('job.lost')).toEqual([])
  expect(await fleet.jobs(ids)).toEqual([expect.objectContaining({ attempts: 1 })])
})

test('jobs that were claimed together and block the event loop from their start keep their leases too', async () => {
  const blocked = await fleet.startWorker({ lease: '4s' })
  const enqueue = `select holdfast.enqueue('block', '{"afterMs": 0, "ms": 2000}', '{}') as id from generate_series(1, 3)`
  const ids = (await bench.look(enqueue)).map(({ id }) => String(id))
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'running'))
  const leaseIds = await bench.look('select distinct lease_id from holdfast.lease where job_id = any ($1)', [ids])
  expect(leaseIds).toHaveLength(1)
  const reaper = await fleet.startWorker({ lease: '4s' })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'completed'))

  expect(reaper.told('job.reaped')).toEqual([])
  expect(blocked.told('job.lost')).toEqual([])
  expect(await fleet.jobs(ids)).toEqual(ids.map((id) => expect.objectContaining({ id, attempts: 1 })))
})

const LAST_ASKED = `select a.query from (select * from pg_stat_activity where datname = current_database()) as a`

test('a worker that its first job blocks before its keeper is there keeps it', async () => {
  const ids = await fleet.enqueue(1, { type: 'block', input: { afterMs: 0, ms: 12_000 } })
  const blocked = await fleet.startWorker({ lease: '10s' })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'running'))
  // Its keeper beats, and the session that it started with still has the lock: it cannot hear that the keeper is there.
  await until(async () => (await bench.look(`${LAST_ASKED} where a.query like '%beat_worker%'`)).length === 1)
  const holds = `${LAST_ASKED} join pg_locks as l using (pid) where l.locktype = 'advisory'`
  expect(await bench.look(holds)).toEqual([{ query: expect.stringContaining('register_worker') }])
  const reaper = await fleet.startWorker({ lease: '10s' })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'completed'))

  expect(reaper.told('job.reaped')).toEqual([])
  expect(blocked.told('job.lost')).toEqual([])
  expect(await fleet.jobs(ids)).toEqual([expect.objectContaining({ attempts: 1 })])
})

test('without the keeper thread a blocked worker loses its leases, and what it writes late is refused', async () => {
  const { blocked, reaper, effects } = await blockOne({ keeperThread: false })
  await blocked.hears('job.lost')

  expect(reaper.told('job.reaped').length).toBeGreaterThan(0)
  expect(await bench.look('select job_id from effect_log order by job_id')).toEqual(
    effects.map((job_id) => ({ job_id })),
  )
})

test('cancelling a job that runs in another process tells its handler why', async () => {
  const worker = await fleet.startWorker()
  const [id = ''] = await fleet.enqueue(1, { type: 'hold', input: { ms: 60_000 } })
  await until(async () => (await bench.look('select from started where job_id = $1', [id])).length === 1)
  const client = bench.open({ jobs: [] })

  await client.cancel(id, { reason: 'no longer wanted' })
  const [aborted] = await worker.hears('aborted')

  expect(aborted).toMatchObject({ code: 'CANCELLED' })
  expect((await fleet.jobs([id]))[0]).toMatchObject({ state: 'cancelled', error: { message: 'no longer wanted' } })
})
