// Leases while the event loop of their worker is blocked, and cancelling what another process runs.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Row } from '../support/ask.js'
import { useFleet } from '../support/fleet.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const fleet = useFleet(bench)

const areAll = async (state: string, ids: readonly string[]) =>
  (await fleet.jobs(ids)).every((job) => job.state === state)

/** A worker of that queue alone. */
const startServing = (queue: string, lease: string, options: Record<string, unknown> = {}) =>
  fleet.startWorker({ lease, options: { queues: [queue], ...options } })

/** Effects that are under way when their neighbour blocks the worker. */
async function neighbours(queue: string) {
  const effects = await fleet.enqueue(3, { type: 'effect', input: { beforeMs: 3000 }, queue })
  const blocks = await fleet.enqueue(1, { type: 'block', input: { afterMs: 2500, ms: 5500 }, queue })
  return [...effects, ...blocks]
}

// None of them has anything to do with the others, so they are blocked at the same time.
describe('a worker that is blocked for longer than its leases, beside another that reaps', () => {
  interface Told {
    readonly ids: readonly string[]
    readonly jobs: readonly Row[]
    readonly lost: readonly unknown[]
    readonly leases: number
  }
  const told: Record<string, Told> = {}
  let reaped: readonly unknown[]

  async function play(queue: string, lease: string, enqueue: (queue: string) => Promise<string[]>) {
    const blocked = await startServing(queue, lease)
    const ids = await enqueue(queue)
    await until(() => areAll('running', ids))
    const leases = await bench.look('select distinct lease_id from holdfast.lease where job_id = any ($1)', [ids])
    await until(() => areAll('completed', ids))
    told[queue] = { ids, jobs: await fleet.jobs(ids), lost: blocked.events('job.lost'), leases: leases.length }
  }

  beforeAll(async () => {
    const reaper = await startServing('reaper', '4s')
    await Promise.all([
      play('neighbours', '3s', neighbours),
      play('alone', '4s', (queue) => fleet.enqueue(1, { type: 'block', input: { afterMs: 0, ms: 6000 }, queue })),
      play('together', '4s', async (queue) => {
        const enqueue = `select holdfast.enqueue('block', '{"afterMs": 0, "ms": 2000}', $1) as id from generate_series(1, 3)`
        return (await bench.look(enqueue, [JSON.stringify({ queue })])).map(({ id }) => String(id))
      }),
    ])
    reaped = reaper.events('job.reaped')
  })

  test.each([
    { queue: 'neighbours', how: 'in the middle of a handler, with neighbours under way' },
    { queue: 'alone', how: 'by a job that was claimed alone, from its start' },
    { queue: 'together', how: 'by jobs that were claimed together, from their start' },
  ])('keeps them all, blocked $how', ({ queue }) => {
    const { ids, jobs, lost } = told[queue] as Told

    expect(reaped).toEqual([])
    expect(lost).toEqual([])
    expect(jobs).toEqual(ids.map((id) => expect.objectContaining({ id, attempts: 1 })))
  })

  test('those that were claimed together had one lease id', () => {
    expect(told.together?.leases).toBe(1)
  })
})

const LAST_ASKED = `select a.query from (select * from pg_stat_activity where datname = current_database()) as a`

test('a worker that is blocked by its first job, before any renewal, keeps that job', async () => {
  const ids = await fleet.enqueue(1, { type: 'block', input: { afterMs: 0, ms: 12_000 } })
  const blocked = await fleet.startWorker({ lease: '10s' })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'running'))
  // The watchdog sends its heartbeat, in another session than the one that has the lock, which sends nothing since.
  await until(async () => (await bench.look(`${LAST_ASKED} where a.query like '%record_heartbeat%'`)).length === 1)
  const holds = `${LAST_ASKED} join pg_locks as l using (pid) where l.locktype = 'advisory'`
  expect(await bench.look(holds)).toEqual([{ query: expect.stringContaining('take_worker_lock') }])
  const reaper = await fleet.startWorker({ lease: '10s' })
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'completed'))

  expect(reaper.events('job.reaped')).toEqual([])
  expect(blocked.events('job.lost')).toEqual([])
  expect(await fleet.jobs(ids)).toEqual([expect.objectContaining({ attempts: 1 })])
})

test('without a watchdog a blocked worker loses its leases, and what it writes late is refused', async () => {
  const blocked = await startServing('blocked', '3s', { watchdog: false })
  const ids = await neighbours('blocked')
  await until(() => areAll('running', ids))
  // Takes what it has reaped.
  const reaper = await startServing('blocked', '3s')
  await until(() => areAll('completed', ids))
  await blocked.hears('job.lost')

  expect(reaper.events('job.reaped').length).toBeGreaterThan(0)
  expect(await bench.look('select job_id from effect_log order by job_id')).toEqual(
    ids.slice(0, 3).map((job_id) => ({ job_id })),
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
