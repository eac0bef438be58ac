// What a handler gets beside its input, and the word that tells it to stop.

import type { JobContext, Logger } from '../domain/context.js'
import { HoldfastError } from '../domain/errors.js'
import type { ClaimedJob } from '../domain/job.js'
import { encodeInput, LIMITS, sanitizeText } from '../domain/json.js'

/** What a run may do to its job while it runs; each presents the lease. */
export interface LeasedDeeds {
  progress(job: ClaimedJob, share: number, message: string | null): Promise<boolean>
  tx<T>(job: ClaimedJob, work: (tx: unknown) => Promise<T>): Promise<T>
  complete(job: ClaimedJob, tx: unknown, output: string): Promise<void>
}

/** Closures and no methods: handlers take the parts out of it. */
export function runContext(
  job: ClaimedJob,
  stop: StopWord,
  deeds: LeasedDeeds,
  openLog: () => Logger,
): { ctx: JobContext; isCompleting(): boolean } {
  let log: Logger | undefined
  let isCompleting = false
  let openTransactions = 0
  let latest: [number, string | undefined] | undefined
  const report = async (share: number, message: string | undefined) => {
    const line = message === undefined ? null : sanitizeText(String(message), LIMITS.reasonBytes)
    if (await deeds.progress(job, share, line)) return
    throw new HoldfastError('LEASE_LOST', `job ${job.id} is no longer held by this run`, { details: { jobId: job.id } })
  }
  const ctx: JobContext = {
    get job() {
      const { input: _, ...facts } = job
      return facts
    },
    get signal() {
      return stop.signal
    },
    get log() {
      log ??= openLog()
      return log
    },
    async progress(share, message) {
      // The run's own transaction has its lease row locked: what is told meanwhile is written when it ends.
      if (openTransactions > 0) latest = [share, message]
      else await report(share, message)
    },
    async tx<T, Tx>(work: (tx: Tx) => Promise<T>) {
      openTransactions += 1
      try {
        return await deeds.tx(job, (tx) => work(tx as Tx))
      } finally {
        openTransactions -= 1
        const told = latest
        latest = undefined
        if (told && openTransactions === 0 && !isCompleting) await report(...told)
      }
    },
    complete(tx, output) {
      isCompleting = true
      return deeds.complete(job, tx, encodeInput(output, 'output'))
    },
  }
  return { ctx, isCompleting: () => isCompleting }
}

/** Says "stop" once, with a reason. Its signal is made when somebody asks for it: most handlers never do. */
export class StopWord {
  #controller: AbortController | undefined
  #reason: HoldfastError | undefined
  #heard: (() => void) | undefined

  get reason(): HoldfastError | undefined {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  say(reason: HoldfastError): void {
    if (this.#reason) return
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#heard?.()
  }

  /** Rejects `ms` after the word, for handlers that ignore it; never settles where it is not said. */
  unheeded(ms: number): Promise<never> {
    return new Promise((_, reject) => {
      this.#heard = () => setTimeout(() => reject(this.#reason), ms).unref()
      if (this.#reason) this.#heard()
    })
  }
}
