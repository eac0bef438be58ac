// Why a run must stop when its lease is lost.

import type { HoldfastError } from '../../domain/error/errors.js'
import type { ClaimedJob } from '../../domain/job/job.js'
import { JobCancelled, JobSuperseded, LeaseLost } from '../../domain/run/abort-reasons.js'
import { findJob } from '../../store/jobs/operator-calls.js'
import type { Store } from '../../store/store.js'

export async function lossReason(store: Store, job: ClaimedJob): Promise<HoldfastError> {
  const state = (await findJob(store, job.id).catch(() => undefined))?.state
  if (state === 'cancelled') return new JobCancelled(`job ${job.id} was cancelled`)
  if (state === 'superseded') return new JobSuperseded(`a newer job took the place of job ${job.id}`)
  return new LeaseLost(`job ${job.id} is no longer held by this worker`)
}
