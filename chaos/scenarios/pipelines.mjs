import { relayPipeline } from '../jobs.mjs'
import { pause } from '../waiting.mjs'

export const name = 'pipelines'
export const what =
  'pipelines of five steps, each computed from the last; a random worker is killed by SIGKILL every 2 s'

const HOPS = 5
const KILL_EVERY_MS = 2000
const AT_ONCE = 50

const NOT_ONCE = `
  select count(*)::int
    from (select id from holdfast.pipeline) as p
   cross join generate_series(1, ${HOPS}) as h(hop)
   where (select count(*) from relay_log as r where r.pipeline_id = p.id and r.hop = h.hop) <> 1`
const OUT_OF_ORDER = `
  select count(*)::int
    from (select r.hop, row_number() over (partition by r.pipeline_id order by r.id) as place from relay_log as r) as r
   where r.hop <> r.place`

// A step that three deaths have met is taken for the culprit and failed, which stops its pipeline; chance can make it so.
const STOPPED = `
  select coalesce(array_agg(p.id::text), '{}')
    from holdfast.pipeline as p
    join holdfast.outcome as o on o.job_id = p.stopped_by
   where o.error ->> 'name' = 'WorkerDied' and o.error ->> 'message' like '%death 3 of at most 3%'`

export async function run({ fleet, client, value, untilIdle, isQuick, check }) {
  const pipelines = isQuick ? 100 : 1000
  // Every second worker finds the next step by the ordinary claim alone.
  const settings = (n) => ({ options: { concurrency: 20, directHandoff: n % 2 === 0 } })
  const workers = await Promise.all([0, 1, 2, 3].map((n) => fleet.startWorker(settings(n))))
  const startedAt = performance.now()
  for (let n = 0; n < pipelines; n += AT_ONCE) {
    const input = { hops: HOPS, ms: isQuick ? 1500 : 900 }
    await Promise.all(Array.from({ length: AT_ONCE }, () => client.enqueuePipeline(relayPipeline, input)))
  }
  let kills = 0
  let killed = 0
  for (;;) {
    await pause(KILL_EVERY_MS)
    if ((await value(`select count(*)::int from holdfast.jobs where state in ('waiting', 'pending', 'running')`)) === 0)
      break
    const place = Math.floor(Math.random() * workers.length)
    const victim = await workers[place].id()
    killed += await value('select count(*)::int from holdfast.lease where locked_by = $1', [victim])
    workers[place].kill('SIGKILL')
    await workers[place].ended
    kills += 1
    workers[place] = await fleet.startWorker(settings(place))
  }
  await untilIdle()
  const stopped = await value(STOPPED)
  // What an operator would do; each goes on from the step that failed.
  for (const id of stopped) await client.pipeline(id).retry()
  await untilIdle()
  const seconds = (performance.now() - startedAt) / 1000

  const complete = await value(
    `select count(*)::int from holdfast.pipeline as p
      where (select o.output from holdfast.outcome as o where o.job_id = p.result_job and o.state = 'completed') = $1`,
    [JSON.stringify({ hop: HOPS })],
  )
  const waiting = await value('select count(*)::int from holdfast.waiting')
  check('workers were killed while they ran steps', kills > 0 && killed > 0, `${kills} kills, ${killed} steps`)
  check('every pipeline completed with the result of its last step', complete === pipelines, complete)
  check('nothing waits any more', waiting === 0, waiting)
  check('each step took effect once', (await value(NOT_ONCE)) === 0, await value(NOT_ONCE))
  check('steps took effect in order', (await value(OUT_OF_ORDER)) === 0, await value(OUT_OF_ORDER))
  return {
    pipelines,
    steps: pipelines * HOPS,
    kills,
    'steps running at a kill': killed,
    'pipelines stopped by a third death, retried': stopped.length,
    'attempts in all': await value(`select sum(attempts)::int from holdfast.outcome`),
    'from first to last': `${Math.round(seconds)} s`,
  }
}
