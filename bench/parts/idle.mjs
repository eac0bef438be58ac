// idle: what a worker with nothing to do costs: statements per second at the server, CPU time of its own process.
import { now, pause } from '../clock.mjs'

export const measures = {
  'idle-statements': { unit: 'statements/s', better: 'lower', says: 'sent by an idle worker' },
  'idle-cpu': { unit: 'ms of CPU per s', better: 'lower', says: 'used by the process of an idle worker' },
}

export const mostRuns = 2
export const systems = [
  'holdfast',
  'graphile-worker',
  'graphile-worker (local queue 500)',
  'pg-boss (work)',
  'bullmq (PostgreSQL)',
]
export const quickSystems = ['holdfast']

export async function measure(bench, system) {
  const store = await bench.stores.fresh(system.store)
  await bench.stores.admin.query('create extension if not exists pg_stat_statements')
  await bench.stores.admin.query(`alter database ${store.name} set pg_stat_statements.track = 'top'`)
  const only = bench.start(
    'idle',
    system,
    { settleMs: bench.size(3000, 1000), ms: bench.size(10_000, 2000) },
    store.url,
  )
  await only.hear('begun')
  const begun = await statements(bench.stores, store.name)
  const { cpu, seconds } = await only.hear('measured')
  const sent = (await statements(bench.stores, store.name)) - begun
  await only.ended()
  await store.close()
  return { 'idle-statements': sent / seconds, 'idle-cpu': cpu / seconds }
}

export async function inside({ system, line, params }) {
  await system.prepare()
  await system.work(async () => {})
  await pause(params.settleMs)
  line.tell('begun')
  const [startedAt, before] = [now(), process.cpuUsage()]
  await pause(params.ms)
  const { user, system: kernel } = process.cpuUsage(before)
  line.tell('measured', { cpu: (user + kernel) / 1000, seconds: (now() - startedAt) / 1000 })
  await pause(200)
}

async function statements({ admin }, name) {
  const { rows } = await admin.query(
    `select coalesce(sum(s.calls), 0)::int as n
       from pg_stat_statements as s
       join pg_database as d on d.oid = s.dbid
      where d.datname = $1`,
    [name],
  )
  return rows[0].n
}
