// pg-boss 12. Finished jobs are kept (deleteAfterSeconds, 7 days by default).
// Settings: pool of 20, no cron (schedule: false); the rest as documented on pgboss.io.
//   fetch 100, in turn      fetch(), the handlers, complete(), as its documentation has it
//   fetch 100, fetch 1000   the same by a loop that does better: the next batch is fetched while the last is completed
//   work                    work() with batchSize 1000, burstWhenBatchFull and localConcurrency 2 ("Workers"), and
//                           useListenNotify with a notify queue, so that an idle worker is woken at once
import pg from 'pg'
import { loadPeer } from '../peers/load.mjs'

const QUEUE = 'noop'

const variant = (name, work) => ({ name, store: 'postgres', peer: 'pg-boss', open: (url) => open(url, work) })

export const pgBosses = [
  variant('pg-boss (fetch 100, in turn)', (boss, handler) => fetchLoop(boss, handler, 100, { isAhead: false })),
  variant('pg-boss (fetch 100)', (boss, handler) => fetchLoop(boss, handler, 100)),
  variant('pg-boss (fetch 1000)', (boss, handler) => fetchLoop(boss, handler, 1000)),
  variant('pg-boss (work)', workers),
]

async function open(url, work) {
  const { PgBoss } = await loadPeer('pg-boss')
  const boss = new PgBoss({ connectionString: url, max: 20, schedule: false, useListenNotify: work === workers })
  boss.on('error', (error) => console.error(error))
  const eye = new pg.Pool({ connectionString: url, max: 1 })
  let isStarted

  return {
    async prepare() {
      isStarted ??= boss.start()
      await isStarted
      await boss.createQueue(QUEUE, { notify: work === workers })
    },
    enqueue: (data) => boss.send(QUEUE, data),
    enqueueMany: (inputs) =>
      boss.insert(
        QUEUE,
        inputs.map((data) => ({ data })),
      ),
    work: (handler) => work(boss, handler),
    async isSettled() {
      const { rows } = await eye.query(`select from pgboss.job where name = $1 and state < 'completed' limit 1`, [
        QUEUE,
      ])
      return rows.length === 0
    },
    async countHistory() {
      const { rows } = await eye.query(`select count(*)::int as n from pgboss.job where state = 'completed'`)
      return rows[0].n
    },
  }
}

async function workers(boss, handler) {
  const options = { batchSize: 1000, burstWhenBatchFull: true, localConcurrency: 2, pollingIntervalSeconds: 0.5 }
  await boss.work(QUEUE, options, (jobs) => Promise.all(jobs.map((job) => handler(job.data))))
  return { stop: () => boss.offWork(QUEUE) }
}

async function fetchLoop(boss, handler, batchSize, { isAhead } = { isAhead: true }) {
  let isStopping = false
  const ended = (async () => {
    const fetch = () => boss.fetch(QUEUE, { batchSize })
    let next
    let written
    while (!isStopping) {
      const jobs = await (next ?? fetch())
      next = isAhead ? fetch() : undefined
      await Promise.all(jobs.map((job) => handler(job.data)))
      await written
      if (jobs.length === 0) continue
      written = boss.complete(
        QUEUE,
        jobs.map((job) => job.id),
      )
      if (!isAhead) await written
    }
    await Promise.all([written, next])
  })()
  ended.catch((error) => {
    console.error(error)
    process.exit(1)
  })
  return {
    stop() {
      isStopping = true
      return ended
    },
  }
}
