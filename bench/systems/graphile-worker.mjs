// graphile-worker 0.18. Finished jobs are deleted; it keeps no history.
// Settings: concurrentJobs 24 and maxPoolSize 25, as in "perfTest results" on worker.graphile.org/docs/performance.
//   plain             its defaults: no local queue, no batching
//   local queue 500   the page's own settings for throughput: localQueue 500, complete and fail batch delays 0
//   local queue 2000  the same with a larger queue, which was faster here for jobs that do nothing
import pg from 'pg'
import { loadPeer } from '../peers/load.mjs'

const BASE = { concurrentJobs: 24, maxPoolSize: 25 }
const batched = (size) => ({ ...BASE, localQueue: { size }, completeJobBatchDelay: 0, failJobBatchDelay: 0 })
const SILENT = () => () => {}

const variant = (name, settings, share = 1) => ({
  name,
  store: 'postgres',
  peer: 'graphile-worker',
  share,
  open: (url) => open(url, settings),
})

export const graphileWorkers = [
  variant('graphile-worker', BASE, 0.2),
  variant('graphile-worker (local queue 500)', batched(500)),
  variant('graphile-worker (local queue 2000)', batched(2000)),
]

async function open(url, settings) {
  const { run, makeWorkerUtils, Logger, WorkerPreset } = await loadPeer('graphile-worker')
  const pgPool = new pg.Pool({ connectionString: url, max: settings.maxPoolSize })
  pgPool.on('error', () => {})
  const eye = new pg.Pool({ connectionString: url, max: 1 })
  const logger = new Logger(SILENT)
  const preset = { extends: [WorkerPreset], worker: { ...settings, logger } }
  const utils = await makeWorkerUtils({ pgPool, logger })
  const start = async (taskList) => run({ pgPool, preset, noHandleSignals: true, taskList })

  return {
    prepare: () => utils.migrate(),
    enqueue: (payload) => utils.addJob('noop', payload),
    enqueueMany: (inputs) => utils.addJobs(inputs.map((payload) => ({ identifier: 'noop', payload }))),
    async work(handler) {
      const runner = await start({ noop: handler })
      return { stop: () => runner.stop() }
    },
    async isSettled() {
      const { rows } = await eye.query('select from graphile_worker._private_jobs limit 1')
      return rows.length === 0
    },
    // What it calls a queue runs one job after the other: its counterpart of a key. Queues are task identifiers here.
    enqueueMixed: (jobs) =>
      utils.addJobs(
        jobs.map((job) => ({
          identifier: `mixed_${job.queue}`,
          payload: job,
          priority: job.priority,
          maxAttempts: 3,
          ...(job.key && { queueName: job.key }),
        })),
      ),
    async workMixed(handler) {
      const task = (input, helpers) => handler(input, helpers.job.attempts)
      await start({ mixed_0: task, mixed_1: task, mixed_2: task, mixed_3: task })
    },
  }
}
