// Reads of whole tables, and the clock: only the owner of a database may use them, and only tests should.

import type { Job, JobId } from '../domain/job/job.js'
import { toJob } from '../store/rows/job-rows.js'
import { RowReader } from '../store/rows/row-reader.js'
import type { Store } from '../store/store.js'

/** Sets what holdfast.now() returns in this session from now on; PGlite has only one session. */
export async function setClock(store: Store, moment: Date): Promise<void> {
  await read(store, `select set_config('holdfast.fake_now', $1, false)`, [moment.toISOString()])
}

/** The jobs that can be claimed now, in claim order. */
export async function dueJobs(store: Store, types: readonly string[]): Promise<JobId[]> {
  const rows = await read(
    store,
    `select r.job_id from holdfast.ready as r
      where r.run_at <= holdfast.now() and not r.parked and r.type = any ($1)
        and not exists (select from holdfast.queue as q where q.name = r.queue and q.paused_at is not null)
      order by r.priority, r.run_at, r.job_id`,
    [types],
  )
  return rows.map((row) => row.id('job_id'))
}

/** The first moment after now at which a job becomes due. */
export async function nextDue(store: Store): Promise<Date | undefined> {
  const [row] = await read(
    store,
    'select min(r.run_at) as next from holdfast.ready as r where r.run_at > holdfast.now() and not r.parked',
  )
  return row?.momentOrNull('next') ?? undefined
}

/** In the order in which they were enqueued; of all types when `type` is absent. */
export async function allJobs(store: Store, type?: string): Promise<Job[]> {
  const rows = await read(
    store,
    'select * from holdfast.jobs as j where $1::text is null or j.type = $1 order by j.id',
    [type ?? null],
  )
  return rows.map(toJob)
}

async function read(store: Store, text: string, values: unknown[] = []): Promise<RowReader[]> {
  const { rows } = await (await store.open()).query(text, values)
  return rows.map((row) => new RowReader(row, 'a read of the test'))
}
