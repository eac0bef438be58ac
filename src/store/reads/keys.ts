// One key: which job holds it, and which jobs it had.

import type { Job } from '../../domain/job/job.js'
import type { KeyView } from '../../domain/operate/queue-views.js'
import { call } from '../connection/call.js'
import { toJob } from '../rows/job-rows.js'
import { toCappedCount } from '../rows/page.js'
import type { Store } from '../store.js'

export async function findKey(store: Store, key: string): Promise<KeyView | undefined> {
  const [row] = await call(store, { invocation: 'find_key_v1($1)' }, [key])
  return (
    row && {
      key,
      holder: row.idOrNull('holder'),
      current: row.idOrNull('current_job'),
      currentSince: row.momentOrNull('current_since'),
      pending: toCappedCount(row, 'pending'),
    }
  )
}

export async function currentJob(store: Store, key: string): Promise<Job | undefined> {
  const [row] = await call(store, { invocation: 'current_v1($1)' }, [key])
  return row && toJob(row)
}

export async function keyHistory(store: Store, key: string, n: number): Promise<Job[]> {
  return (await call(store, { invocation: 'key_history_v1($1, $2)' }, [key, n])).map(toJob)
}
