// Three jobs on the embedded database: one that just runs, one that fails once and is retried, one that reports progress.
// `npm start` keeps the worker running; `npm start -- --once` ends when everything it enqueued has finished.

import { createHoldfast, defineJob } from 'holdfast'
import { z } from 'zod'

const greet = defineJob({
  type: 'greet',
  input: z.object({ name: z.string() }),
  run: ({ name }) => ({ greeting: `Hello, ${name}` }),
})

const flakyFetch = defineJob({
  type: 'flaky_fetch',
  input: z.object({ url: z.string() }),
  retry: { attempts: 3, base: '200ms', max: '1s' },
  run({ url }, ctx) {
    if (ctx.job.attempts === 1) throw new Error(`${url} did not answer`)
    return { status: 200, attempts: ctx.job.attempts }
  },
})

const importRows = defineJob({
  type: 'import_rows',
  input: z.object({ file: z.string(), rows: z.number() }),
  key: ({ file }) => ({ file }),
  async run({ rows }, ctx) {
    for (let done = 0; done < rows; done += 100) {
      ctx.signal.throwIfAborted()
      await ctx.progress(done / rows, `rows ${done} of ${rows}`)
    }
    return { rows }
  },
})

const once = process.argv.includes('--once')
const holdfast = createHoldfast({
  // A demonstration that ends leaves nothing behind; otherwise data stays in .holdfast/.
  database: process.env.DATABASE_URL ?? (once ? 'memory://' : 'embedded:'),
  jobs: [greet, flakyFetch, importRows],
  migrate: true,
})

const show = (state, { id, type, attempt }, more = '') =>
  console.log(`${new Date().toISOString()}  #${id} ${type} (attempt ${attempt}) ${state}${more}`)
holdfast.on('job.claimed', (job) => show('pending → running', job))
holdfast.on('job.completed', (job) => show(`running → completed in ${job.ms.toFixed(1)} ms`, job))
holdfast.on('job.failed', (job) =>
  show(`running → ${job.isFinal ? 'failed' : 'pending'}`, job, `: ${job.failure.message}`),
)

console.log(process.env.DATABASE_URL ? 'using DATABASE_URL' : 'no DATABASE_URL: embedded PostgreSQL in this process')
await holdfast.start()

const handles = [
  ...(await holdfast.enqueueMany(greet, [{ name: 'Ada' }, { name: 'Grace' }])),
  await holdfast.enqueue('flaky_fetch', { url: 'https://example.org/rates' }),
  await holdfast.enqueue(importRows, { file: 'stations.csv', rows: 1000 }),
]
for (const handle of handles) console.log(`#${handle.id} ${handle.type} gave`, await handle.result({ timeout: '30s' }))

if (once) {
  await holdfast.close()
  console.log(`${handles.length} jobs completed`)
} else {
  console.log('the worker goes on; press Ctrl-C to stop')
  process.once('SIGINT', () => holdfast.close())
  process.once('SIGTERM', () => holdfast.close())
}
