// What only the owner of a database may ask, for tests: it reads whole tables and sets the clock.

import type { Job, JobId } from '../domain/job/job.js'
import type { Row } from './connection/connection.js'
import { toJob } from './jobs/rows.js'
import type { Store } from './store.js'

/** What holdfast.now() gives from now on in this session; on PGlite that is the only one. */
export async function setClock(store: Store, moment: Date): Promise<void> {
  await ask(store, `select set_config('holdfast.fake_now', $1, false)`, [moment.toISOString()])
}

/** Those that can be claimed now, in the order of claims. */
export async function dueJobs(store: Store, types: readonly string[]): Promise<JobId[]> {
  const rows = await ask(
    store,
    `select r.job_id from holdfast.ready as r
      where r.run_at <= holdfast.now() and not r.parked and r.type = any ($1)
        and not exists (select from holdfast.queue as q where q.name = r.queue and q.paused_at is not null)
      order by r.priority, r.run_at, r.job_id`,
    [types],
  )
  return rows.map((row) => String(row.job_id))
}

/** The first moment after now at which a job becomes due. */
export async function nextDue(store: Store): Promise<Date | undefined> {
  const [row] = await ask(
    store,
    'select min(r.run_at) as next from holdfast.ready as r where r.run_at > holdfast.now() and not r.parked',
  )
  return (row?.next ?? undefined) as Date | undefined
}

/** In the order in which they were enqueued; of all types without one. */
export async function allJobs(store: Store, type?: string): Promise<Job[]> {
  const rows = await ask(
    store,
    'select * from holdfast.jobs as j where $1::text is null or j.type = $1 order by j.id',
    [type ?? null],
  )
  return rows.map(toJob)
}

async function ask(store: Store, text: string, values: unknown[] = []): Promise<Row[]> {
  return (await (await store.open()).query(text, values)).rows
}
