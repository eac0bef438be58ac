// The lifecycle events that a running Holdfast reports, by name.

import { EventEmitter } from 'node:events'
import type { ErrorCode } from '../domain/error/errors.js'
import type { JobId } from '../domain/job/job.js'
import type { Wait } from '../domain/run/durable-step.js'
import type { Failure } from '../domain/run/failure.js'
import type { Tick } from '../domain/schedule/schedule.js'
import { isSubscribed, publish } from './channels.js'

/** The job that an event is about. */
export interface JobReference {
  readonly id: JobId
  readonly type: string
  readonly queue: string
  readonly attempt: number
}

export interface Events {
  /** `isClaimed`: this process's own worker claimed them in the same call and starts them at once. */
  'job.enqueued': {
    readonly ids: readonly JobId[]
    readonly type: string
    readonly queue: string | undefined
    readonly isClaimed: boolean
  }
  'pipeline.enqueued': { readonly id: string; readonly name: string }
  'job.claimed': JobReference
  /** `waitMs`: since it was due, by this process's clock; null where that is unknown. */
  'job.started': JobReference & { readonly waitMs: number | null }
  'job.completed': JobReference & { readonly ms: number }
  'job.failed': JobReference & { readonly ms: number; readonly failure: Failure; readonly isFinal: boolean }
  'job.snoozed': JobReference & { readonly delayMs: number }
  /** Its handler sleeps or waits for an event; the slot is free. */
  'job.suspended': JobReference & { readonly waits: readonly Wait[] }
  'job.cancelled': JobReference & { readonly reason: string | null }
  'job.released': JobReference
  /** The outcome was refused, or the run was stopped, because another worker holds the job. */
  'job.lost': JobReference & { readonly code: ErrorCode }
  /** Jobs were taken from dead workers. */
  'job.reaped': { readonly jobs: readonly { readonly id: JobId; readonly state: 'pending' | 'failed' }[] }
  /** This process handled due ticks of a schedule; `ids` are the jobs it enqueued. */
  'schedule.fired': { readonly jobKey: string; readonly ticks: readonly Tick[]; readonly ids: readonly JobId[] }
  /** A tick could not be handled; it stays due. */
  'schedule.fault': { readonly jobKey: string; readonly tick: Date | null; readonly error: unknown }
  /** One poll of a queue, also one that found no job. */
  'worker.claimed': { readonly worker: string; readonly queue: string; readonly jobs: number; readonly ms: number }
  'worker.started': { readonly worker: string; readonly queues: readonly string[]; readonly types: readonly string[] }
  /** No queue has a job that it can claim: it sleeps until a wake-up or the next poll. Jobs may still run. */
  'worker.asleep': { readonly worker: string }
  'worker.stopped': { readonly worker: string }
  /** An operation of the worker or its maintenance failed; `doing` names it and says what happens next. */
  'worker.fault': { readonly worker: string; readonly doing: string; readonly error: unknown }
}

export type EventName = keyof Events

/** Catches what a listener throws and reports it as `worker.fault`, so that no listener can end a worker. */
export class EventHub {
  readonly #emitter = new EventEmitter({ captureRejections: false })

  constructor() {
    this.#emitter.setMaxListeners(0)
  }

  on<N extends EventName>(name: N, listener: (event: Events[N]) => void): () => void {
    const guarded = (event: Events[N]) => {
      try {
        listener(event)
      } catch (error) {
        if (name !== 'worker.fault') this.emit('worker.fault', { worker: '', doing: `a listener of ${name}`, error })
      }
    }
    this.#emitter.on(name, guarded)
    return () => this.#emitter.off(name, guarded)
  }

  emit<N extends EventName>(name: N, event: Events[N]): void {
    this.#emitter.emit(name, event)
    publish(name, event)
  }

  /** Lets a hot path skip building an event that has no listener. */
  isHeard(name: EventName): boolean {
    return this.#emitter.listenerCount(name) > 0 || isSubscribed(name)
  }
}
