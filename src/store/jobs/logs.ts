// Lines that handlers logged.

import type { JobId } from '../../domain/job/job.js'
import { call } from '../connection/call.js'
import type { Store } from '../store.js'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export interface LogLine {
  readonly at: Date
  readonly level: (typeof LEVELS)[number]
  readonly message: string
  readonly fields: object
}

export interface StoredLogLine extends LogLine {
  readonly id: string
  readonly token: string
}

/** `lines` is the JSON text of an array of job_id, token, at, level, message and fields. */
export async function appendLogs(store: Store, lines: string): Promise<void> {
  await call(store, { invocation: 'append_logs_v1($1::text::jsonb)' }, [lines])
}

export async function readLogs(store: Store, id: JobId, after: string, n: number): Promise<StoredLogLine[]> {
  const rows = await call(store, { invocation: 'read_logs_v1($1, $2, $3)' }, [id, after, n])
  return rows.map((row) => ({
    id: row.id('id'),
    token: row.id('token'),
    at: row.moment('at'),
    level: row.oneOf('level', LEVELS),
    message: row.text('message'),
    fields: row.isNull('fields') ? {} : row.object('fields'),
  }))
}
