// A worker claims while its keeper's thread still boots, and nobody takes it for dead meanwhile.
import { afterEach, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { EventHub } from '../../src/observe/events.js'
import { SILENT } from '../../src/observe/log.js'
import { Store } from '../../src/store/open.js'
import { putJobTypes } from '../../src/store/workers.js'
import { workerIdentity } from '../../src/worker/identity.js'
import { leasedDeeds } from '../../src/worker/leased-deeds.js'
import { checkWorkerOptions } from '../../src/worker/options.js'
import { Registry } from '../../src/worker/registry.js'
import { Worker } from '../../src/worker/worker.js'
import { type BootingKeeper, bootingKeeper } from '../support/booting-keeper.js'
import { aborted, gate } from '../support/gate.js'
import { givenIn } from '../support/given.js'
import { heard, until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const HERE = 'database = (select oid from pg_database where datname = current_database())'
const enqueue = () => givenIn(bench.database.admin).pendingJob()
const stateOf = async (id: string) =>
  (await bench.look('select state from holdfast.jobs where id = $1', [id]))[0]?.state
const isIn = (id: string, state: string) => until(async () => (await stateOf(id)) === state)

let opened: { keeper: BootingKeeper; worker: Worker; store: Store } | undefined
afterEach(async () => {
  opened?.keeper.boot()
  await opened?.worker.stop()
  await opened?.store.close()
  opened = undefined
})

interface Wish {
  lease?: '9s' | '10s' | '30s'
  maxConnections?: number
  sessionLock?: false
  run?: (signal: AbortSignal) => unknown
}

/** Its jobs are of the type `task`. The keeper's thread waits for the test. */
async function openWorker({ lease = '30s', maxConnections = 10, run = () => {}, ...options }: Wish = {}) {
  const keeper = await bootingKeeper()
  const store = new Store({ database: bench.database.url, maxConnections })
  const registry = new Registry([defineJob({ type: 'task', lease, run: (_, { signal }) => run(signal) })])
  const events = new EventHub()
  const identity = workerIdentity('0')
  const checked = checkWorkerOptions({ grace: 0, ...options }, ['default'], {})
  const worker = new Worker(
    {
      store,
      registry,
      events,
      identity,
      log: SILENT,
      pipelines: new Map(),
      isAlone: false,
      deeds: leasedDeeds(store),
      watch: { silence: () => {}, unanswered: () => {} },
    },
    { ...checked, keeping: { ...checked.keeping, threadFile: keeper.file } },
  )
  opened = { keeper, worker, store }
  return { keeper, worker, events, store }
}

/** The backend of the session that has the worker's lock, where the row says that one has it. */
async function holder(): Promise<number | undefined> {
  const [row] = await bench.look(
    `select l.pid
       from holdfast.worker as w
       join pg_locks as l on (l.classid::bigint << 32 | l.objid::bigint) = holdfast.worker_lock_id(w.id)
      where w.has_lock and l.locktype = 'advisory' and l.objsubid = 1`,
  )
  return row?.pid
}

/** As another worker that has not heard of this one for long. */
async function reap() {
  await bench.look(`update holdfast.worker set beat_at = holdfast.now() - interval '1 hour'`)
  return bench.look('select job_id, state from holdfast.reap_leases_v1()')
}

test('jobs run before the keeper is there, and then it has the lock in a session of its own', async () => {
  const { keeper, worker } = await openWorker()
  const id = await enqueue()
  await worker.start()
  await isIn(id, 'completed')
  const early = await holder()
  expect(early).toBeDefined()

  keeper.boot()
  await until(async () => ![undefined, early].includes(await holder()))
  // The session that had it is back in the pool.
  expect(await bench.look('select state from pg_stat_activity where pid = $1', [early])).toEqual([{ state: 'idle' }])
})

test('a worker whose keeper still boots is not dead while its session lives, however silent it is', async () => {
  const { worker } = await openWorker({ run: aborted })
  const id = await enqueue()
  await worker.start()
  await isIn(id, 'running')

  expect(await reap()).toEqual([])

  await bench.look('select pg_terminate_backend($1, 10000)', [await holder()])
  expect(await reap()).toEqual([{ job_id: id, state: 'pending' }])
})

test('a worker that has lost the session of its lock claims again when its keeper is there', async () => {
  const { keeper, worker, events } = await openWorker()
  await worker.start()
  const lost = heard(events, 'worker.fault', ({ doing }) => doing.startsWith('holding the lock'))
  await bench.look('select pg_terminate_backend($1, 10000)', [await holder()])
  await lost
  const id = await enqueue()
  worker.wake()
  for (let looks = 0; looks < 100; looks += 1) expect(await stateOf(id)).toBe('pending')

  keeper.boot()
  await isIn(id, 'completed')
})

test('a worker that has lost first the session of its lock and then its thread claims again with the next', async () => {
  const { keeper, worker, events } = await openWorker()
  await worker.start()
  await keeper.arrives()
  const lost = heard(events, 'worker.fault')
  await bench.look('select pg_terminate_backend($1, 10000)', [await holder()])
  await lost
  const id = await enqueue()
  worker.wake()
  keeper.die()
  await keeper.arrives(2)

  keeper.boot()
  await isIn(id, 'completed')
})

test.each([1, 3])('leases of %i jobs that were claimed before the keeper was there are renewed by it', async (jobs) => {
  const end = gate()
  const { keeper, worker } = await openWorker({ lease: '10s', run: () => end.opened })
  const ids = await Promise.all(Array.from({ length: jobs }, enqueue))
  await worker.start()
  await Promise.all(ids.map((id) => isIn(id, 'running')))
  await bench.look(`update holdfast.lease set locked_until = holdfast.now() + interval '5 seconds'`)

  keeper.boot()
  const renewed = `select from holdfast.lease where locked_until > holdfast.now() + interval '8 seconds'`
  await until(async () => (await bench.look(renewed)).length === jobs)
  end.open()
  await Promise.all(ids.map((id) => isIn(id, 'completed')))
})

test.each<[string, Wish, string?]>([
  ['leases are short', { lease: '9s' }],
  ['an operator has pinned another lease', {}, `select holdfast.pin_job_type('task', '{"lease_seconds": 5}')`],
  ['the pool has few connections', { maxConnections: 2 }],
  ['no session keeps a lock', { sessionLock: false }],
])('where %s, the worker waits for its keeper', async (_, wish, before) => {
  const { keeper, worker, store } = await openWorker(wish)
  await putJobTypes(store, [defineJob({ type: 'task' })])
  if (before) await bench.look(before)
  const id = await enqueue()
  let isStarted = false
  const started = worker.start().then(() => {
    isStarted = true
  })
  await keeper.arrives()
  for (let looks = 0; looks < 100; looks += 1) expect(await stateOf(id)).toBe('pending')
  expect(isStarted).toBe(false)

  keeper.boot()
  await started
  await isIn(id, 'completed')
})

test('a thread that dies while it boots is told of and replaced, and what ran meanwhile is stopped', async () => {
  const reasons: unknown[] = []
  const run = async (signal: AbortSignal) => {
    reasons.push((await aborted(signal)).code)
  }
  const { keeper, worker, events } = await openWorker({ run })
  const id = await enqueue()
  await worker.start()
  await isIn(id, 'running')
  await keeper.arrives()
  const fault = heard(events, 'worker.fault')

  keeper.die()
  expect(await fault).toMatchObject({ doing: 'starting the keeper thread' })
  await until(async () => reasons.length === 1)
  expect(reasons).toEqual(['LEASE_LOST'])

  await keeper.arrives(2)
  expect(await holder()).toBeDefined()
  const next = await enqueue()
  keeper.boot()
  await isIn(next, 'running')
})

test('a worker that is stopped while its keeper boots leaves nothing behind', async () => {
  const { keeper, worker } = await openWorker()
  const id = await enqueue()
  await worker.start()
  await isIn(id, 'completed')
  await keeper.arrives()

  const stopped = worker.stop()
  keeper.boot()
  await stopped

  expect(await bench.look('select from holdfast.worker')).toEqual([])
  expect(await bench.look(`select from pg_locks where locktype = 'advisory' and ${HERE}`)).toEqual([])
  await opened?.store.close()
  opened = undefined
  const sessions = `select from pg_stat_activity where datname = current_database() and application_name = 'holdfast'`
  await until(async () => (await bench.look(sessions)).length === 0)
})
