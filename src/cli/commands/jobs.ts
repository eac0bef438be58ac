// holdfast jobs: shows jobs, and retries, cancels and recovers them.

import type { Command } from 'commander'
import type { Client } from '../../client/client.js'
import { HoldfastError } from '../../domain/error/errors.js'
import type { Job } from '../../domain/job/job.js'
import type { JobRow } from '../../domain/operate/job-views.js'
import { type DatabaseFlags, withClient, withDatabase } from '../database.js'
import { errorLine } from '../exit-codes.js'
import { ago, print, progressBar, table } from '../terminal.js'

interface OperatorFlags extends DatabaseFlags {
  readonly reason?: string
  readonly stale?: string
}

export function addJobs(program: Command): void {
  const jobs = program.command('jobs').description('show jobs, retry, cancel and recover them')
  withDatabase(jobs.command('list [filter...]'))
    .description(
      'jobs, newest first; all of them, or those of a filter: state:failed type:mail since:24h input.year=2026',
    )
    .option('--after <position>', 'continue after this position, which the previous page printed')
    .option('--limit <n>', 'how many jobs, at most 200', '50')
    .action(runList)
  withDatabase(jobs.command('show <id>'))
    .description('show one job: why it does not run, its attempts, its log lines')
    .action(runShow)
  withDatabase(jobs.command('retry <ids...>'))
    .description('give finished jobs fresh attempts and run them now')
    .action((ids, flags) => onEach(ids, flags, 'retried', (client, id) => client.retry(id)))
  withDatabase(jobs.command('cancel <ids...>'))
    .description('cancel jobs; the handler of a running job is told by its signal')
    .option('--reason <text>', 'stored with the job')
    .action((ids, flags: OperatorFlags) =>
      onEach(ids, flags, 'cancelled', (client, id) => client.cancel(id, reasonOf(flags))),
    )
  withDatabase(jobs.command('recover <ids...>'))
    .description('take running jobs from stuck holders')
    .option('--stale <duration>', 'refuse jobs that were claimed less than this ago (default: 30m)')
    .action((ids, flags: OperatorFlags) =>
      onEach(ids, flags, 'recovered', (client, id) =>
        client.recover(id, flags.stale ? { stale: flags.stale as '30m' } : {}),
      ),
    )
}

function reasonOf({ reason }: OperatorFlags): { reason?: string } {
  return reason === undefined ? {} : { reason }
}

async function runList(filter: string[], flags: DatabaseFlags & { after?: string; limit: string }): Promise<void> {
  await withClient(flags, async ({ client }) => {
    const { after } = flags
    const page = await client.operator.jobs({
      filter: filter.join(' '),
      limit: Number(flags.limit),
      ...(after !== undefined && { after }),
    })
    print(flags, page, () => {
      const more = page.next === null ? [] : ['', `there is more: --after ${page.next}`]
      return [jobTable(page.rows), ...more].join('\n')
    })
  })
}

function jobTable(jobs: readonly JobRow[]): string {
  return table(
    ['id', 'type', 'queue', 'state', 'attempts', 'enqueued', 'finished', 'error'],
    jobs.map((job) => [
      job.id,
      job.type,
      job.queue,
      job.state,
      `${job.attempts}/${job.maxAttempts}`,
      ago(job.createdAt),
      ago(job.finishedAt),
      job.error?.message.split('\n')[0],
    ]),
    'no job fits',
  )
}

async function runShow(id: string, flags: DatabaseFlags): Promise<void> {
  await withClient(flags, async ({ client }) => {
    const story = await client.operator.job(id)
    if (!story) throw new HoldfastError('JOB_NOT_FOUND', `there is no job ${id}`, { details: { jobId: id } })
    const { job, attempts } = story
    const [explanation, logs] = [await client.explain(id), await client.logs(id)]
    print(flags, { ...job, explanation, attempts, logs }, () =>
      [
        explanation.text,
        '',
        ...jobLines(job),
        ...attempts.map(
          (one) => `attempt ${one.attempt} ${one.verdict} ${ago(one.endedAt)}: ${one.error?.message ?? ''}`,
        ),
        ...logs.map(({ at, level, message }) => `${at.toISOString()} ${level.padEnd(5)} ${message}`),
      ].join('\n'),
    )
  })
}

function jobLines(job: Job): string[] {
  const facts = Object.entries(job).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`)
}

function shown(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** One job after another: a refusal does not stop the rest. Exit code 1 when any was refused. */
async function onEach(
  ids: readonly string[],
  flags: DatabaseFlags,
  done: string,
  operation: (client: Client, id: string) => Promise<unknown>,
): Promise<void> {
  await withClient(flags, async ({ client }) => {
    const bar = progressBar(done, ids.length > 10 ? ids.length : 0)
    const results: { id: string; ok: boolean; line: string }[] = []
    for (const id of ids) {
      results.push(
        await operation(client, id).then(
          () => ({ id, ok: true, line: `job ${id} ${done}` }),
          (error) => {
            // Without the database every further job would fail too.
            if (error?.code === 'CONNECTION_FAILED' || ids.length === 1) throw error
            return { id, ok: false, line: errorLine(error, false).split('\n')[0] ?? '' }
          },
        ),
      )
      bar.at(results.length)
    }
    bar.end()
    print(flags, results, () => results.map(({ line }) => line).join('\n'))
    if (results.some(({ ok }) => !ok)) process.exitCode = 1
  })
}
