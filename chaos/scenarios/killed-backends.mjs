import { completedWithin, startLoad, workersWithin } from '../load.mjs'
import { ratio } from '../statistics.mjs'
import { pause } from '../waiting.mjs'

export const name = 'killed-backends'
export const what = 'a random connection of the workers is ended by the server every 100 ms, under load'

const WINDOW_MS = 5000
// Transactions that wait inside are cut while nothing is being asked of their connection.
const MIX = [
  { type: 'noop', input: { ms: 30 }, share: 0.6 },
  { type: 'effect', input: { beforeMs: 10, insideMs: 60 }, share: 0.4 },
]

export async function run(context) {
  const { fleet, ask, value, appRole, untilIdle, isQuick, check } = context
  const workers = await Promise.all([1, 2].map(() => fleet.startWorker({ options: { concurrency: 15 } })))
  const load = startLoad(context, { mix: MIX })
  await pause(3000 + WINDOW_MS)
  const before = await completedWithin(ask, WINDOW_MS)

  const killed = await killBackends(ask, appRole, isQuick ? 8000 : 30_000)
  const during = await completedWithin(ask, WINDOW_MS)
  await pause(3000 + WINDOW_MS)
  const after = await completedWithin(ask, WINDOW_MS)
  const atWork = await workersWithin(ask, WINDOW_MS)
  await load.stop()
  await untilIdle()

  check('connections were killed', killed.all > 0 && killed.inTransaction > 0, killed)
  check(
    'the worker processes are the same',
    workers.every(({ isAlive }) => isAlive),
    fleet.complaints(),
  )
  check('nothing was left unhandled', fleet.complaints() === '', fleet.complaints())
  check('every worker works again', atWork === workers.length, atWork)
  check('throughput came back', ratio(after, before) > 0.5, ratio(after, before))
  return {
    'jobs acknowledged': context.acknowledged.size,
    'connections killed': killed.all,
    'of these inside a transaction': killed.inTransaction,
    [`completed in ${WINDOW_MS} ms before, at the end of, after`]: `${before}, ${during}, ${after}`,
    'throughput after / before': ratio(after, before),
    'attempts failed or lost': await value('select count(*)::int from holdfast.attempt'),
    'faults reported by workers': fleet.count('worker.fault'),
    'jobs that failed for good': await value(`select count(*)::int from holdfast.jobs where state = 'failed'`),
  }
}

async function killBackends(ask, role, ms) {
  const killed = { all: 0, inTransaction: 0 }
  const deadline = performance.now() + ms
  while (performance.now() < deadline) {
    const rows = await ask(
      `select a.state, pg_terminate_backend(a.pid) as done
         from (select a.pid, a.state from pg_stat_activity as a where a.usename = $1 order by random() limit 1) as a`,
      [role],
    )
    for (const { state, done } of rows) {
      if (done) killed.all += 1
      if (done && state === 'idle in transaction') killed.inTransaction += 1
    }
    await pause(100)
  }
  return killed
}
