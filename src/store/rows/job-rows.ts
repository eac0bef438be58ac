// Jobs as readers see them, one by one and in lists.

import { JOB_STATES, type Job, KEY_POLICIES } from '../../domain/job/job.js'
import type { JobRow } from '../../domain/operate/job-views.js'
import type { Failure } from '../../domain/run/failure.js'
import type { RowReader } from './row-reader.js'

export function toJob(row: RowReader): Job {
  return Object.freeze({
    id: row.id('id'),
    type: row.text('type'),
    queue: row.text('queue'),
    priority: row.number('priority'),
    state: row.oneOf('state', JOB_STATES),
    input: row.json('input'),
    output: row.json('output'),
    error: toFailureOrNull(row, 'error'),
    key: row.textOrNull('key'),
    keyPolicy: row.oneOfOrNull('key_policy', KEY_POLICIES),
    isCurrent: row.boolean('is_current'),
    attempts: row.number('attempts'),
    maxAttempts: row.number('max_attempts'),
    token: row.id('token'),
    lockedBy: row.textOrNull('locked_by'),
    lockedAt: row.momentOrNull('locked_at'),
    lockedUntil: row.momentOrNull('locked_until'),
    progress: row.numberOrNull('progress'),
    statusMessage: row.textOrNull('status_message'),
    pipelineId: row.textOrNull('pipeline_id'),
    step: row.textOrNull('step'),
    tags: row.texts('tags'),
    dedupeId: row.textOrNull('dedupe_id'),
    trace: row.textOrNull('trace'),
    createdAt: row.moment('created_at'),
    runAt: row.moment('run_at'),
    finishedAt: row.momentOrNull('finished_at'),
  })
}

export function toJobRow(row: RowReader): JobRow {
  const name = row.textOrNull('error_name')
  const message = row.textOrNull('error_message')
  return Object.freeze({
    id: row.id('id'),
    type: row.text('type'),
    queue: row.text('queue'),
    priority: row.number('priority'),
    state: row.oneOf('state', JOB_STATES),
    key: row.textOrNull('key'),
    keyPolicy: row.oneOfOrNull('key_policy', KEY_POLICIES),
    attempts: row.number('attempts'),
    maxAttempts: row.number('max_attempts'),
    progress: row.numberOrNull('progress'),
    statusMessage: row.textOrNull('status_message'),
    error: name === null && message === null ? null : { name: name ?? '', message: message ?? '' },
    lockedBy: row.textOrNull('locked_by'),
    lockedAt: row.momentOrNull('locked_at'),
    isParked: row.boolean('parked'),
    pipelineId: row.textOrNull('pipeline_id'),
    step: row.textOrNull('step'),
    tags: row.texts('tags'),
    createdAt: row.moment('created_at'),
    runAt: row.moment('run_at'),
    finishedAt: row.momentOrNull('finished_at'),
  })
}

export function toFailureOrNull(row: RowReader, column: string): Failure | null {
  const failure = row.nestedOrNull(column)
  return failure && { ...row.object(column), name: failure.text('name'), message: failure.text('message') }
}
