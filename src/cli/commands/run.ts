// holdfast run: enqueues one job and, with --wait, waits for its outcome.

import type { Command } from 'commander'
import type { JobHandle } from '../../client/handle.js'
import { type DatabaseFlags, onDatabase, withDatabase } from '../database.js'
import { parseJson } from '../json-argument.js'
import { loadApp } from '../load-app.js'
import { print, progressBar } from '../terminal.js'

interface RunFlags extends DatabaseFlags {
  readonly input: string
  readonly wait?: boolean
  readonly here?: boolean
  readonly timeout?: string
}

export function addRun(program: Command): void {
  withDatabase(program.command('run <type>'))
    .description('enqueue a job of your application')
    .option('--input <json>', 'the input of the job', '{}')
    .option('--wait', 'wait for its outcome; exit with 1 unless it completes')
    .option('--here', 'run it in this process, without a worker; always so on the embedded database')
    .option('--timeout <duration>', 'wait at most this long')
    .action(runRun)
}

async function runRun(type: string, flags: RunFlags): Promise<void> {
  const input = parseJson('--input', flags.input)
  const app = onDatabase(await loadApp(flags.config), flags)
  try {
    const job = await app.enqueue(type, input)
    // Only one process can open an embedded database, so no other worker could run the job.
    const isHere = flags.here || isEmbedded(app.database)
    if (isHere) await app.runJob(job.id)
    if (!flags.wait && !isHere) return print(flags, { id: job.id, type }, `job ${job.id} enqueued`)
    const output = await outcomeOf(job, flags)
    print(flags, { id: job.id, type, output }, `job ${job.id} completed: ${JSON.stringify(output)}`)
  } finally {
    await app.close()
  }
}

function isEmbedded(database: unknown): boolean {
  return database === undefined || (typeof database === 'string' && /^(embedded:|memory:\/\/)/.test(database))
}

/** Shows the job's progress on a terminal until its outcome is there. */
async function outcomeOf(job: JobHandle, { timeout }: RunFlags): Promise<unknown> {
  const bar = progressBar(`job ${job.id}`, process.stderr.isTTY ? 100 : 0)
  const poll = setInterval(async () => {
    const now = await job.read().catch(() => undefined)
    if (now?.progress !== null && now?.progress !== undefined) bar.at(100 * now.progress)
  }, 500)
  try {
    return await job.result(timeout === undefined ? {} : { timeout: timeout as '30s' })
  } finally {
    clearInterval(poll)
    bar.end()
  }
}
