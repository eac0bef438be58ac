import { completedWithin, startLoad, workersWithin } from '../load.mjs'
import { ratio } from '../statistics.mjs'
import { pause, until } from '../waiting.mjs'

export const name = 'restart'
export const what = 'PostgreSQL is away for 5 s under load, three times: shut down, ended at once, killed'

const WAYS = ['SIGINT', 'SIGQUIT', 'SIGKILL']
const AWAY_MS = 5000
const WINDOW_MS = 5000
const MIX = [
  { type: 'noop', input: { ms: 50 }, share: 0.8 },
  { type: 'effect', input: { beforeMs: 20, insideMs: 20 }, share: 0.2 },
]

export async function run(context) {
  const { fleet, ask, value, server, enqueue, untilIdle, check } = context
  const workers = await Promise.all([1, 2].map(() => fleet.startWorker({ options: { concurrency: 15 } })))
  const long = await enqueue('noop', Array(4).fill({ ms: 75_000 }), { priority: 0 })
  const load = startLoad(context, { mix: MIX })
  await pause(3000 + WINDOW_MS)
  const before = await completedWithin(ask, WINDOW_MS)

  const recoveries = []
  for (const signal of WAYS) {
    await server.stop(signal)
    await pause(AWAY_MS)
    await server.start()
    const readyAt = performance.now()
    await until('jobs complete again', async () => (await completedWithin(ask, 1000).catch(() => 0)) > 0)
    recoveries.push(Math.round(performance.now() - readyAt))
    await pause(8000)
  }
  const after = await completedWithin(ask, WINDOW_MS)
  const atWork = await workersWithin(ask, WINDOW_MS)
  await load.stop()
  await untilIdle()

  const longStates = await ask('select state, attempts from holdfast.jobs where id = any ($1)', [long])
  const crashMarks = await value(`select count(*)::int from holdfast.attempt where error ->> 'name' = 'WorkerDied'`)
  check('the producer saw the database go away', load.outages.count > 0, load.outages.count)
  check('workers saw it go away', fleet.count('worker.fault') > 0, 0)
  check(
    'the worker processes are the same',
    workers.every(({ isAlive }) => isAlive),
    fleet.complaints(),
  )
  check('nothing was left unhandled', fleet.complaints() === '', fleet.complaints())
  check(
    'jobs that ran through all of it completed',
    longStates.every(({ state }) => state === 'completed'),
    longStates,
  )
  check('no living worker was taken for dead', crashMarks === 0, crashMarks)
  check('every worker works again', atWork === workers.length, atWork)
  check('throughput came back', ratio(after, before) > 0.5, ratio(after, before))
  return {
    'jobs acknowledged': context.acknowledged.size,
    'first completion after the server was ready, ms': recoveries.join(', '),
    [`completed in ${WINDOW_MS} ms before and after`]: `${before}, ${after}`,
    'throughput after / before': ratio(after, before),
    'attempts failed or lost': await value('select count(*)::int from holdfast.attempt'),
    'living workers taken for dead, jobs': crashMarks,
  }
}
