// holdfast bench: how many empty jobs per second this database stores and one worker in this process runs.

import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { invalidOption } from '../../domain/error/invalid-option.js'
import { defineJob } from '../../domain/job/definition.js'
import { createHoldfast } from '../../holdfast.js'
import { type DatabaseFlags, findDatabase, withDatabase } from '../database.js'
import { print, progressBar } from '../terminal.js'

interface BenchFlags extends DatabaseFlags {
  readonly jobs: string
  readonly batch: string
}

export function addBench(program: Command): void {
  withDatabase(program.command('bench'))
    .description('measure how fast empty jobs are enqueued and run here')
    .option('--jobs <n>', 'how many jobs', '10000')
    .option('--batch <n>', 'how many jobs per enqueue call', '1000')
    .addHelpText('after', '\nThe jobs have a queue of their own and go with the retention like all others.')
    .action(runBench)
}

async function runBench(flags: BenchFlags): Promise<void> {
  const [jobs, batch] = [count('--jobs', flags.jobs, 1_000_000), count('--batch', flags.batch, 10_000)]
  const queue = `bench-${randomBytes(4).toString('hex')}`
  const job = defineJob({ type: 'holdfast_bench', queue, run: async () => {} })
  const holdfast = createHoldfast({ ...(await findDatabase(flags)), jobs: [job], concurrency: 100, grace: 0 })
  try {
    const enqueueMs = await timed(() => enqueueAll(holdfast, job, jobs, batch))
    const bar = progressBar('running', jobs)
    let done = 0
    const allDone = new Promise<void>((resolve) => {
      holdfast.on('job.completed', () => {
        done += 1
        bar.at(done)
        if (done === jobs) resolve()
      })
    })
    const runMs = await timed(async () => {
      await holdfast.start()
      await allDone
    })
    bar.end()
    const statistics = { jobs, enqueuedPerSecond: rate(jobs, enqueueMs), ranPerSecond: rate(jobs, runMs) }
    print(
      flags,
      statistics,
      `${jobs} jobs: enqueued ${statistics.enqueuedPerSecond}/s, ran ${statistics.ranPerSecond}/s`,
    )
  } finally {
    await holdfast.close()
  }
}

type Bench = Pick<ReturnType<typeof createHoldfast>, 'enqueueMany'>

async function enqueueAll(holdfast: Bench, job: ReturnType<typeof defineJob>, jobs: number, batch: number) {
  const bar = progressBar('enqueuing', jobs)
  for (let sent = 0; sent < jobs; sent += batch) {
    await holdfast.enqueueMany(job, new Array(Math.min(batch, jobs - sent)).fill({}))
    bar.at(sent + batch)
  }
  bar.end()
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function rate(jobs: number, ms: number): number {
  return Math.round((1000 * jobs) / ms)
}

function count(what: string, text: string, most: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw invalidOption(what, `a whole number from 1 to ${most}`, text)
}
