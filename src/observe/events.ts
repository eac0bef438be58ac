// The facts that a running Holdfast tells, by name.

import { EventEmitter } from 'node:events'
import type { ErrorCode } from '../domain/error/errors.js'
import type { Wait } from '../domain/job/durable-step.js'
import type { Failure } from '../domain/job/failure.js'
import type { JobId } from '../domain/job/job.js'
import type { Tick } from '../domain/schedule/schedule.js'
import { isSubscribed, publish } from './channels.js'

export interface JobFact {
  readonly id: JobId
  readonly type: string
  readonly queue: string
  readonly attempt: number
}

export interface Events {
  /** `isClaimed`: this process's own worker has them already and starts them at once. */
  'job.enqueued': {
    readonly ids: readonly JobId[]
    readonly type: string
    readonly queue: string | undefined
    readonly isClaimed: boolean
  }
  'pipeline.enqueued': { readonly id: string; readonly name: string }
  'job.claimed': JobFact
  /** `waitMs`: since it was due, by this process's clock; null where that cannot be told. */
  'job.started': JobFact & { readonly waitMs: number | null }
  'job.completed': JobFact & { readonly ms: number }
  'job.failed': JobFact & { readonly ms: number; readonly failure: Failure; readonly isFinal: boolean }
  'job.snoozed': JobFact & { readonly delayMs: number }
  /** Its handler sleeps or waits for an event; the slot is free. */
  'job.suspended': JobFact & { readonly waits: readonly Wait[] }
  'job.cancelled': JobFact & { readonly reason: string | null }
  'job.released': JobFact
  /** What the run came to was refused, or the run was told to stop because another holds the job. */
  'job.lost': JobFact & { readonly code: ErrorCode }
  /** Jobs were taken from holders that are gone. */
  'job.reaped': { readonly jobs: readonly { readonly id: JobId; readonly state: 'pending' | 'failed' }[] }
  /** Due ticks of a schedule were dealt with by this process; `ids` are the jobs they made. */
  'schedule.fired': { readonly jobKey: string; readonly ticks: readonly Tick[]; readonly ids: readonly JobId[] }
  /** A schedule could not be served; its tick stays owed. */
  'schedule.fault': { readonly jobKey: string; readonly tick: Date | null; readonly error: unknown }
  /** One look into a queue, whatever it found. */
  'worker.claimed': { readonly worker: string; readonly queue: string; readonly jobs: number; readonly ms: number }
  'worker.started': { readonly worker: string; readonly queues: readonly string[]; readonly types: readonly string[] }
  'worker.stopped': { readonly worker: string }
  /** Something of the worker's own failed; who repairs it is in the message. */
  'worker.fault': { readonly worker: string; readonly doing: string; readonly error: unknown }
}

export type EventName = keyof Events

/** A listener that throws must not end a worker: its error is told as a fault of its own. */
export class EventHub {
  readonly #emitter = new EventEmitter({ captureRejections: false })

  constructor() {
    this.#emitter.setMaxListeners(0)
  }

  on<N extends EventName>(name: N, listener: (fact: Events[N]) => void): () => void {
    const guarded = (fact: Events[N]) => {
      try {
        listener(fact)
      } catch (error) {
        if (name !== 'worker.fault') this.emit('worker.fault', { worker: '', doing: `a listener of ${name}`, error })
      }
    }
    this.#emitter.on(name, guarded)
    return () => this.#emitter.off(name, guarded)
  }

  emit<N extends EventName>(name: N, fact: Events[N]): void {
    this.#emitter.emit(name, fact)
    publish(name, fact)
  }

  /** For what happens tens of thousands of times a second: where nobody listens, its fact need not be made. */
  isHeard(name: EventName): boolean {
    return this.#emitter.listenerCount(name) > 0 || isSubscribed(name)
  }
}
