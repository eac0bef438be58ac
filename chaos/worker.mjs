// One worker process of a scenario: starts a Holdfast on DATABASE_URL and prints what happens to it as JSON lines.
// CHAOS_WORKER holds { lease, print, isolated, options }: the lease of every type, the further events to print, whether to serve
// the isolated jobs, and options of createHoldfast.
import { createHoldfast } from 'holdfast'
import * as isolatedJobs from './isolated-jobs.mjs'
import { chaosJobs, relayPipeline } from './jobs.mjs'

const { lease, print = [], isolated = false, options = {} } = JSON.parse(process.env.CHAOS_WORKER ?? '{}')
const ALWAYS_PRINTED = ['worker.started', 'job.lost', 'job.reaped', 'worker.fault']

const holdfast = createHoldfast({
  database: process.env.DATABASE_URL,
  concurrency: 60,
  ...options,
  jobs: [...chaosJobs({ lease }), ...(isolated ? Object.values(isolatedJobs) : [])],
  pipelines: [relayPipeline],
})
for (const name of [...ALWAYS_PRINTED, ...print]) {
  holdfast.on(name, (event) => printLine({ event: name, ...event, ...(event.error && describe(event.error)) }))
}

// The parent process holds the standard input of this process; when the input ends, so does this process.
process.stdin.resume().on('end', () => process.exit(3))
process.once('SIGTERM', () => void holdfast.close().then(() => process.exit(0)))
await holdfast.start()

function printLine(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function describe(error) {
  return { error: String(error?.message ?? error), code: error?.cause?.code ?? error?.code ?? null }
}
