// Stores the lines that handlers log, a few times a second. A line that cannot be stored never makes a job fail.

import type { ClaimedJob } from '../../domain/job/job.js'
import type { Logger } from '../../domain/run/context.js'
import { encodeInput } from '../../domain/value/json.js'
import { sanitizeText } from '../../domain/value/text.js'
import { appendLogs, type LogLine } from '../../store/jobs/logs.js'
import type { Store } from '../../store/store.js'

const FLUSH_MS = 250
// A handler that logs without end must not fill the memory: the oldest unstored lines are dropped.
const MOST_WAITING = 5000
const MESSAGE_BYTES = 2000

export class JobLog {
  readonly #store: Store
  readonly #onFault: (doing: string, error: unknown) => void
  #lines: string[] = []
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(store: Store, onFault: (doing: string, error: unknown) => void) {
    this.#store = store
    this.#onFault = onFault
  }

  /** A logger that stores each line with its job and passes it on. */
  loggerFor(job: ClaimedJob, next: Logger): Logger {
    const write = (level: LogLine['level']) => (fields: object, message?: string) => {
      next[level](fields, message)
      this.write(job, { at: new Date(), level, message: message ?? '', fields })
    }
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  }

  write(job: ClaimedJob, { at, level, message, fields }: LogLine): void {
    const text = JSON.stringify(sanitizeText(String(message), MESSAGE_BYTES))
    const head = `{"job_id":${job.id},"token":${job.token},"at":"${at.toISOString()}","level":"${level}"`
    this.#lines.push(`${head},"message":${text},"fields":${storable(fields)}}`)
    if (this.#lines.length > MOST_WAITING) this.#lines.splice(0, this.#lines.length - MOST_WAITING)
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS)
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines.splice(0)
    if (lines.length > 0) {
      this.#flushing = this.#flushing
        .then(() => appendLogs(this.#store, `[${lines.join(',')}]`))
        .catch((error) => this.#onFault(`storing ${lines.length} log lines, which are lost`, error))
    }
    return this.#flushing
  }
}

function storable(fields: object): string {
  try {
    return encodeInput(fields, 'output')
  } catch {
    return '{}'
  }
}
