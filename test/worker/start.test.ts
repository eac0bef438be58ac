// A worker sends heartbeats from its first claim on, and the watchdog can renew its leases.
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { EventHub } from '../../src/observe/events.js'
import { SILENT } from '../../src/observe/log.js'
import { putJobTypes } from '../../src/store/jobs/workers.js'
import { Store } from '../../src/store/store.js'
import { workerIdentity } from '../../src/worker/identity.js'
import { leasedCalls } from '../../src/worker/leased-calls.js'
import { checkWorkerOptions } from '../../src/worker/options.js'
import { Registry } from '../../src/worker/registry.js'
import { Worker } from '../../src/worker/worker.js'
import { aborted, gate } from '../support/gate.js'
import { givenIn } from '../support/given.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { type StartingWatchdog, startingWatchdog } from '../support/starting-watchdog.js'

const bench = useHoldfast()
const HERE = 'database = (select oid from pg_database where datname = current_database())'
const ENDS = 'select min(locked_until) as end from holdfast.lease'
const enqueue = () => givenIn(bench.database.admin).pendingJob()
const stateOf = async (id: string) =>
  (await bench.look('select state from holdfast.jobs where id = $1', [id]))[0]?.state
const isIn = (id: string, state: string) => until(async () => (await stateOf(id)) === state)

let opened: { watchdog: StartingWatchdog; worker: Worker; store: Store } | undefined
afterEach(async () => {
  opened?.watchdog.boot()
  await opened?.worker.stop()
  await opened?.store.close()
  opened = undefined
})

interface Wish {
  lease?: '9s' | '10s' | '30s'
  sessionLock?: false
  run?: (signal: AbortSignal) => unknown
}

/** Its jobs are of the type `task`. The watchdog thread waits for the test. */
async function openWorker({ lease = '30s', run = () => {}, ...options }: Wish = {}) {
  const watchdog = await startingWatchdog()
  const store = new Store({ database: bench.database.url })
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
      calls: leasedCalls(store),
    },
    { ...checked, renewal: { ...checked.renewal, watchdogFile: watchdog.file } },
  )
  opened = { watchdog, worker, store }
  return { watchdog, worker, events, store }
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

/** As another worker that has long seen no heartbeat of this one. */
async function reap() {
  await bench.look(`update holdfast.worker set heartbeat_at = holdfast.now() - interval '1 hour'`)
  return bench.look('select job_id, state from holdfast.reap_leases_v1()')
}

test('a worker has its lock before it claims, and jobs run before the watchdog has booted', async () => {
  const { watchdog, worker } = await openWorker()
  const id = await enqueue()
  await worker.start()
  expect(await holder()).toBeDefined()

  await isIn(id, 'completed')
  await watchdog.arrives()
})

test('a worker is not dead while its session lives, however silent it is', async () => {
  const { worker } = await openWorker({ run: aborted })
  const id = await enqueue()
  await worker.start()
  await isIn(id, 'running')

  expect(await reap()).toEqual([])

  await bench.look('select pg_terminate_backend($1, 10000)', [await holder()])
  expect(await reap()).toEqual([{ job_id: id, state: 'pending' }])
})

test('a worker that has lost its session gets its lock in another, and goes on', async () => {
  const { worker } = await openWorker()
  await worker.start()
  const lost = await holder()
  await bench.look('select pg_terminate_backend($1, 10000)', [lost])

  await until(async () => ![undefined, lost].includes(await holder()))
  const id = await enqueue()
  worker.wake()
  await isIn(id, 'completed')
})

test('leases that the worker cannot renew are renewed by the watchdog, and their runs continue', async () => {
  const end = gate()
  const reasons: unknown[] = []
  const run = async (signal: AbortSignal) => {
    signal.addEventListener('abort', () => reasons.push(signal.reason.code))
    await end.opened
  }
  const { watchdog, worker, events } = await openWorker({ lease: '10s', run })
  const ids = await Promise.all([enqueue(), enqueue(), enqueue()])
  await worker.start()
  await Promise.all(ids.map((id) => isIn(id, 'running')))
  // Each round of the lease renewer begins with a heartbeat, which now waits for the lock.
  const locker = await bench.database.connect('admin')
  onTestFinished(() => locker.end())
  await locker.query('begin; select from holdfast.worker for update')
  const faults: string[] = []
  events.on('worker.fault', ({ doing }) => faults.push(doing))
  const [first] = await bench.look(ENDS)

  watchdog.boot()
  // Longer than the worker holds them without a renewal.
  const muchLater = `${ENDS} having min(locked_until) > $1::timestamptz + interval '10 seconds'`
  await until(async () => reasons.length > 0 || (await bench.look(muchLater, [first?.end])).length === 1)
  await locker.query('commit')
  end.open()
  expect(reasons).toEqual([])
  expect(faults).toContain('renewing 3 leases')
  await Promise.all(ids.map((id) => isIn(id, 'completed')))
})

test.each<[string, Wish, string?]>([
  ['leases are short', { lease: '9s' }],
  ['an operator has pinned another lease', {}, `select holdfast.pin_job_type('task', '{"lease_seconds": 5}')`],
])('where %s, the worker waits until the watchdog has booted', async (_, wish, before) => {
  const { watchdog, worker, store } = await openWorker(wish)
  await putJobTypes(store, [defineJob({ type: 'task' })])
  if (before) await bench.look(before)
  const id = await enqueue()
  let isStarted = false
  const started = worker.start().then(() => {
    isStarted = true
  })
  await watchdog.arrives()
  for (let polls = 0; polls < 100; polls += 1) expect(await stateOf(id)).toBe('pending')
  expect(isStarted).toBe(false)

  watchdog.boot()
  await started
  await isIn(id, 'completed')
})

test('where no session keeps a lock, the worker has none and runs its jobs', async () => {
  const { worker } = await openWorker({ sessionLock: false })
  const id = await enqueue()
  await worker.start()
  await isIn(id, 'completed')

  expect(await bench.look('select has_lock from holdfast.worker')).toEqual([{ has_lock: false }])
})

test('a worker that is stopped leaves nothing behind', async () => {
  const { watchdog, worker } = await openWorker()
  const id = await enqueue()
  await worker.start()
  await isIn(id, 'completed')
  await watchdog.arrives()

  await worker.stop()

  expect(await bench.look('select from holdfast.worker')).toEqual([])
  expect(await bench.look(`select from pg_locks where locktype = 'advisory' and ${HERE}`)).toEqual([])
  await opened?.store.close()
  opened = undefined
  const sessions = `select from pg_stat_activity where datname = current_database() and application_name = 'holdfast'`
  await until(async () => (await bench.look(sessions)).length === 0)
})
