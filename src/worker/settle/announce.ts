// Announces each step of claimed jobs: lifecycle events, from which metrics are made, and log lines.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { Logger } from '../../domain/run/context.js'
import type { EventHub, JobReference } from '../../observe/events.js'
import type { EndedRun } from './settler.js'

export interface AnnouncerParts {
  readonly events: EventHub
  readonly log: Logger
  readonly worker: string
}

export class Announcer {
  readonly #parts: AnnouncerParts

  constructor(parts: AnnouncerParts) {
    this.#parts = parts
  }

  claimed(jobs: readonly ClaimedJob[]): void {
    const { events } = this.#parts
    if (events.isHeard('job.claimed')) for (const job of jobs) events.emit('job.claimed', referenceTo(job))
  }

  started(job: ClaimedJob): void {
    const { events } = this.#parts
    if (!events.isHeard('job.started')) return
    // The clocks of database and process may differ: a wait is never negative.
    events.emit('job.started', { ...referenceTo(job), waitMs: Math.max(0, Date.now() - job.dueAtMs) })
  }

  settled({ job, outcome, ms }: EndedRun, isWritten: boolean): void {
    const { events, log, worker } = this.#parts
    if (!isWritten) {
      log.info(
        { worker, jobId: job.id, attempt: job.attempts },
        'the outcome was refused: another worker holds the job',
      )
      events.emit('job.lost', { ...referenceTo(job), code: 'LEASE_LOST' })
    } else if (outcome.kind === 'completed') {
      if (events.isHeard('job.completed')) events.emit('job.completed', { ...referenceTo(job), ms })
    } else if (outcome.kind === 'failed') {
      const isFinal = outcome.retry.kind === 'never' || job.attempts >= job.maxAttempts
      events.emit('job.failed', { ...referenceTo(job), ms, failure: outcome.failure, isFinal })
    } else if (outcome.kind === 'snoozed') {
      events.emit('job.snoozed', { ...referenceTo(job), delayMs: outcome.delayMs })
    } else if (outcome.kind === 'suspended') {
      events.emit('job.suspended', { ...referenceTo(job), waits: outcome.waits })
    } else if (outcome.kind === 'cancelled') {
      events.emit('job.cancelled', { ...referenceTo(job), reason: outcome.reason })
    } else if (outcome.kind === 'released') {
      events.emit('job.released', referenceTo(job))
    } else {
      outcome.kind satisfies 'lost' // never written
    }
  }

  /** Something of the worker's own failed. */
  readonly fault = (doing: string, error: unknown): void => {
    const { events, worker } = this.#parts
    events.emit('worker.fault', { worker, doing, error })
  }
}

function referenceTo(job: ClaimedJob): JobReference {
  return { id: job.id, type: job.type, queue: job.queue, attempt: job.attempts }
}
