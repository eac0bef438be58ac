// Queues: paused or not.

import { call } from '../connection/call.js'
import type { Store } from '../store.js'

/** false when it was paused already. */
export async function pauseQueue(store: Store, queue: string, actor: string | null): Promise<boolean> {
  const [row] = await call(store, { invocation: 'pause_queue_v1($1, $2)', value: 'changed' }, [queue, actor])
  return row?.changed === true
}

/** false when it was not paused. */
export async function resumeQueue(store: Store, queue: string, actor: string | null): Promise<boolean> {
  const [row] = await call(store, { invocation: 'resume_queue_v1($1, $2)', value: 'changed' }, [queue, actor])
  return row?.changed === true
}
