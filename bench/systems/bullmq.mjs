// BullMQ 6, on Redis and on PostgreSQL. Finished jobs are kept (removeOnComplete is unset).
// Settings: concurrency 32 ("Processing, concurrency 8-32", docs.bullmq.io/guide/postgresql), a pool of 32 there; addBulk for
// many jobs. Redis: appendonly yes, appendfsync everysec ("Going to production"), so its commits may lose a second where
// PostgreSQL's may not.
import { loadPeer } from '../peers/load.mjs'

const QUEUE = 'noop'
const CONCURRENCY = 32

export const bullmqOnRedis = { name: 'bullmq (Redis)', store: 'redis', peer: 'bullmq', share: 0.3, open: openOnRedis }
export const bullmqOnPostgres = {
  name: 'bullmq (PostgreSQL)',
  store: 'postgres',
  peer: 'bullmq',
  share: 0.05,
  open: openOnPostgres,
}

async function openOnRedis(url) {
  const bullmq = await loadPeer('bullmq')
  const { hostname: host, port } = new URL(url)
  return opened(bullmq, { connection: { host, port: Number(port), maxRetriesPerRequest: null } }, [], async () => {})
}

async function openOnPostgres(url) {
  const bullmq = await loadPeer('bullmq')
  const { default: pg } = await loadPeer('pg')
  const connection = { connectionString: url, max: CONCURRENCY }
  return opened(bullmq, { connection }, [bullmq.createPostgresBackend], async () => {
    const client = new pg.Client(url)
    await client.connect()
    await bullmq.runMigrations(client)
    await client.end()
  })
}

function opened({ Queue, Worker }, options, backend, prepare) {
  let opening
  const queue = () => {
    opening ??= new Queue(QUEUE, options, ...backend)
    return opening
  }
  return {
    async prepare() {
      await prepare()
      await queue().waitUntilReady()
    },
    enqueue: (data) => queue().add(QUEUE, data),
    enqueueMany: (inputs) => queue().addBulk(inputs.map((data) => ({ name: QUEUE, data }))),
    async work(handler) {
      const worker = new Worker(QUEUE, (job) => handler(job.data), { ...options, concurrency: CONCURRENCY }, ...backend)
      worker.on('error', (error) => console.error(error))
      await worker.waitUntilReady()
      return { stop: () => worker.close() }
    },
    async isSettled() {
      const { active, wait } = await queue().getJobCounts('active', 'wait')
      return active + wait === 0
    },
    countHistory: async () => (await queue().getJobCounts('completed')).completed,
  }
}
