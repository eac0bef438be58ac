import pg from 'pg'
import { startLoad, workersWithin } from '../load.mjs'
import { pause, until } from '../waiting.mjs'

export const name = 'refused-connections'
export const what =
  'other clients take every connection of the server for some seconds; then it is read-only for some seconds'

const MIX = [{ type: 'noop', input: { ms: 50 }, share: 1 }]

export async function run(context) {
  const { fleet, ask, value, isQuick, untilIdle, enqueue, check } = context
  const faultMs = isQuick ? 4000 : 8000
  const workers = await Promise.all([1, 2].map(() => fleet.startWorker({ options: { concurrency: 15 } })))
  const long = await enqueue('noop', Array(4).fill({ ms: faultMs + 6000 }), { priority: 0 })
  const load = startLoad(context, { mix: MIX })
  await pause(2000)

  const hogged = await useUpConnections(context, faultMs)
  const recovered = await untilCompletes(ask)
  await pause(3000)
  const refusedConnections = faults(workers, '53300')

  await setReadOnly(ask, true)
  await pause(faultMs)
  const readOnly = faults(workers, '25006')
  await setReadOnly(ask, false)
  const writable = await untilCompletes(ask)
  await pause(6000)
  const atWork = await workersWithin(ask, 2000)
  await load.stop()
  await untilIdle()

  const attempts = await value('select count(*)::int from holdfast.attempt')
  const longStates = await ask('select state, attempts from holdfast.jobs where id = any ($1)', [long])
  check('workers were refused a connection (53300)', refusedConnections > 0, refusedConnections)
  check('workers met a read-only server (25006)', readOnly > 0, readOnly)
  check(
    'the worker processes are the same',
    workers.every(({ isAlive }) => isAlive),
    fleet.complaints(),
  )
  check('nothing was left unhandled', fleet.complaints() === '', fleet.complaints())
  check('every worker works again', atWork === workers.length, atWork)
  check(
    'no attempt was consumed',
    attempts === 0,
    await ask('select error, count(*)::int from holdfast.attempt group by 1 limit 3'),
  )
  check(
    'jobs that ran through it completed',
    longStates.every(({ state }) => state === 'completed'),
    longStates,
  )
  return {
    'jobs acknowledged': context.acknowledged.size,
    'connections taken by others': hogged,
    'connections refused to workers': refusedConnections,
    'first completion after they were free': `${recovered} ms`,
    'writes refused as read-only': readOnly,
    'first completion after it was writable': `${writable} ms`,
    'attempts consumed': attempts,
  }
}

function faults(workers, code) {
  return workers
    .flatMap((worker) => worker.events('worker.fault'))
    .filter((fact) => fact.code === code || String(fact.error).includes(TEXTS[code])).length
}

// The watchdog thread reports its faults as text.
const TEXTS = { 53300: 'connection slots', 25006: 'read-only transaction' }

/** Takes each free connection, and those of the workers, which the server ends. */
async function useUpConnections({ url, ask, appRole }, ms) {
  const hogs = new Set()
  const deadline = performance.now() + ms
  const isHog = `application_name = 'hog'`
  while (performance.now() < deadline) {
    const isFull = !(await openHog(url, hogs))
    if (isFull)
      await ask(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and not ${isHog}`, [appRole])
    if (isFull) await pause(20)
  }
  await Promise.all([...hogs].map((client) => client.end().catch(() => {})))
  return hogs.size
}

async function openHog(url, hogs) {
  const client = new pg.Client({ connectionString: url, application_name: 'hog' })
  client.on('error', () => {})
  try {
    await client.connect()
    hogs.add(client)
    return true
  } catch {
    return false
  }
}

async function setReadOnly(ask, isOn) {
  await ask(`alter system set default_transaction_read_only = ${isOn ? 'on' : 'off'}`)
  await ask('select pg_reload_conf()')
}

/** Milliseconds until a job completes. */
async function untilCompletes(ask) {
  const startedAt = performance.now()
  const since = (await ask('select clock_timestamp()::text as at'))[0].at
  await until('a job completes', async () => {
    const [{ n }] = await ask('select count(*)::int as n from holdfast.outcome where finished_at > $1', [since])
    return n > 0
  })
  return Math.round(performance.now() - startedAt)
}
