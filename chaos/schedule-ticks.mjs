// Lets a fleet of workers fire the ticks of one schedule on a clock that all of them share, and kills the worker that fired.
import { setTimeout as pause } from 'node:timers/promises'

export const JOB_KEY = 'every-minute'
const FIRST_TICK = Date.UTC(2030, 0, 1)
const MINUTE = 60_000
const WORKERS = 5
const PATIENCE_MS = 60_000

// Workers that only serve the schedule: no queue has a job for them, so that what they fire stays to be counted.
const SETTINGS = {
  print: ['schedule.fired'],
  options: { queues: ['nothing'], watchdog: false, listen: false, maxConnections: 2 },
}

/** @typedef {import('./fleet.mjs').WorkerProcess} Worker */

/**
 * @typedef {object} Stage
 * @property {ReturnType<typeof import('./fleet.mjs').openFleet>} fleet
 * @property {(text: string, values?: unknown[]) => Promise<Record<string, any>[]>} ask as the owner
 */

/**
 * From now on the time of this database is what the table says, for every connection.
 * @param {Stage['ask']} ask
 */
export async function shareClock(ask) {
  await ask('create table public.fleet_clock (at timestamptz not null)')
  await ask('insert into public.fleet_clock values ($1)', [new Date(FIRST_TICK - MINUTE / 2)])
  await ask('grant select on public.fleet_clock to public')
  await ask(
    `create or replace function holdfast.now() returns timestamptz language sql volatile
       as $$ select c.at from public.fleet_clock as c $$`,
  )
}

/**
 * @param {Stage} stage
 * @param {number} ticks
 */
export async function fireAndKill({ fleet, ask }, ticks) {
  await ask('select holdfast.create_schedule($1)', [
    JSON.stringify({ job_key: JOB_KEY, type: 'noop', every_ms: MINUTE, options: { queue: 'scheduled' } }),
  ])
  /** @type {Set<Worker>} */
  const workers = new Set()
  const join = async () => workers.add(await fleet.startWorker(SETTINGS))
  await Promise.all(Array.from({ length: WORKERS }, join))
  // A start takes longer than a tick: the successors of those who will die are on their way before.
  const joining = [join(), join()]
  let killed = 0
  await untilPlanned(ask, FIRST_TICK)

  for (let n = 0; n < ticks; n += 1) {
    const tick = FIRST_TICK + n * MINUTE
    await ask('update public.fleet_clock set at = $1', [new Date(tick + 100)])
    const winner = await firedBy(workers, new Date(tick).toISOString())
    winner.kill('SIGKILL')
    await winner.ended
    workers.delete(winner)
    killed += 1
    await untilPlanned(ask, tick + MINUTE)
    joining.push(join())
    while (workers.size < WORKERS) await Promise.race(joining.splice(0, 1))
  }
  await Promise.all(joining)
  return { killed, ...(await countTicks(ask, ticks)) }
}

/**
 * @param {Set<Worker>} workers
 * @param {string} tick
 */
async function firedBy(workers, tick) {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await pause(5)) {
    for (const worker of workers) {
      const last = worker.events('schedule.fired').at(-1)
      if (last && JSON.stringify(last.ticks).includes(tick)) return worker
    }
  }
  throw new Error(`no worker fired the tick of ${tick}`)
}

/**
 * @param {Stage['ask']} ask
 * @param {number} tick
 */
async function untilPlanned(ask, tick) {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await pause(5)) {
    const [row] = await ask('select next_tick from holdfast.schedule where job_key = $1', [JOB_KEY])
    if (row?.next_tick?.getTime() === tick) return
  }
  throw new Error(`no worker planned the tick of ${new Date(tick).toISOString()}`)
}

/**
 * @param {Stage['ask']} ask
 * @param {number} ticks
 */
async function countTicks(ask, ticks) {
  const [row] = await ask(
    `with expected as (
       select $2::timestamptz + n * interval '1 minute' as tick from generate_series(0, $3::integer - 1) as n
     ),
     made as (
       select j.id, t.tick from holdfast.job as j left join holdfast.schedule_tick as t on t.job_id = j.id
        where 'schedule:' || $1 = any (j.tags)
     )
     select (select count(*)::int from made) as jobs,
            (select count(*)::int - count(distinct m.tick)::int from made as m) as doubled,
            (select count(*)::int from expected as e where not exists (select from made as m where m.tick = e.tick)) as missing`,
    [JOB_KEY, new Date(FIRST_TICK), ticks],
  )
  return { jobs: Number(row?.jobs), doubled: Number(row?.doubled), missing: Number(row?.missing) }
}
