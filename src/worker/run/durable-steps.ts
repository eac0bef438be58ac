// The steps and waits of one run: replays what earlier attempts remembered, and ends the run where it has to wait.

import { HoldfastError } from '../../domain/error/errors.js'
import {
  encodeStepOutput,
  type FoundEvent,
  type StepKind,
  type StoredStep,
  type Wait,
} from '../../domain/job/durable-step.js'
import { type ClaimedJob, checkLabel } from '../../domain/job/job.js'
import { type Duration, durationMs } from '../../domain/value/duration.js'
import { LIMITS } from '../../domain/value/sizes.js'
import type { Cancellation } from './cancellation.js'

/** What a run does to its own memory; writes present the lease. */
export interface DurableStepCalls {
  readSteps(job: ClaimedJob): Promise<StoredStep[]>
  /** Repeats a write that did not get through until it does or `isOver` says so. */
  rememberStep(job: ClaimedJob, name: string, output: string, isOver: () => boolean): Promise<void>
  pollEvent(job: ClaimedJob, name: string, event: string): Promise<FoundEvent | undefined>
}

/** Thrown where a handler has to wait, so that its `finally` blocks run. Whoever catches it cannot keep the run going. */
class Suspended extends Error {
  static {
    Suspended.prototype.name = 'Suspended'
  }
}

export class RunSteps {
  readonly #job: ClaimedJob
  readonly #stop: Cancellation
  readonly #operations: DurableStepCalls
  readonly #used = new Set<string>()
  readonly #running = new Set<Promise<unknown>>()
  readonly #waits: Wait[] = []
  #remembered: Promise<ReadonlyMap<string, StoredStep>> | undefined
  #unnamedSleeps = 0

  constructor(job: ClaimedJob, stop: Cancellation, operations: DurableStepCalls) {
    this.#job = job
    this.#stop = stop
    this.#operations = operations
  }

  /** What the run waits for; none while it goes on. */
  get waits(): readonly Wait[] {
    return this.#waits
  }

  get isSuspended(): boolean {
    return this.#waits.length > 0
  }

  async step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    if (this.isSuspended) return this.endHere()
    const known = await this.#recall('step', name)
    // A wait beside it has ended the run meanwhile: this step is for the next one.
    if (this.isSuspended) return this.endHere()
    if (known) return known.output as T
    this.#stop.throwIfSaid()
    const running = this.#run(name, work)
    this.#running.add(running)
    return running.finally(() => this.#running.delete(running))
  }

  async sleep(duration: Duration, name?: string): Promise<void> {
    if (this.isSuspended) return this.endHere()
    const delayMs = durationMs(duration, 'sleep')
    const own = name ?? `#${++this.#unnamedSleeps}`
    const known = await this.#recall('sleep', own)
    if (!known?.isOver) this.#suspend({ kind: 'sleep', name: own, delayMs })
  }

  async waitFor<T>(event: string, timeout: Duration | undefined, name = event): Promise<T> {
    if (this.isSuspended) return this.endHere()
    checkLabel('event', event, LIMITS.labelBytes)
    const delayMs = timeout === undefined ? LIMITS.durationMs : durationMs(timeout, 'timeout of waitFor')
    const known = await this.#recall('event', name)
    if (known?.isOver) return this.#payload<T>({ payload: known.output, isTimeout: known.isGivenUp }, event)
    const found = await this.#operations.pollEvent(this.#job, name, event)
    if (found) return this.#payload<T>(found, event)
    return this.#suspend({ kind: 'event', name, event, delayMs })
  }

  /** For a handler that caught the word to wait and goes on: nothing of it takes effect any more. Never settles. */
  endHere(): Promise<never> {
    this.#stop.cutOff(new Suspended(this.#describe()))
    return new Promise<never>(() => {})
  }

  /** Resolves when no step is running any more: what was begun is still remembered. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  /** What is known of it from earlier runs; refuses a name that this run has used. */
  async #recall(kind: StepKind, name: string): Promise<StoredStep | undefined> {
    const id = `${kind} ${checkLabel(`name of the ${kind}`, name, LIMITS.labelBytes)}`
    if (this.#used.has(id)) {
      throw new HoldfastError(
        'STEP_REPEATED',
        `the ${kind} "${name}" appears twice in one run: give each its own name`,
        {
          details: { jobId: this.#job.id, kind, name },
        },
      )
    }
    if (this.#used.size >= LIMITS.steps) {
      throw new HoldfastError('INVALID_OPTION', `a job remembers at most ${LIMITS.steps} steps and waits`)
    }
    this.#used.add(id)
    this.#remembered ??= this.#read()
    return (await this.#remembered).get(id)
  }

  async #read(): Promise<ReadonlyMap<string, StoredStep>> {
    const steps = await this.#operations.readSteps(this.#job)
    return new Map(steps.map((step) => [`${step.kind} ${step.name}`, step]))
  }

  async #run<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const output = encodeStepOutput(name, await work())
    await this.#operations.rememberStep(this.#job, name, output, () => this.#stop.reason !== undefined)
    // The same as what a later attempt will get.
    return JSON.parse(output)
  }

  #payload<T>({ payload, isTimeout }: FoundEvent, event: string): T {
    if (!isTimeout) return payload as T
    throw new HoldfastError('EVENT_TIMEOUT', `the event "${event}" did not come within the time given`, {
      details: { jobId: this.#job.id, event },
    })
  }

  #suspend(wait: Wait): never {
    this.#stop.throwIfSaid()
    this.#waits.push(wait)
    throw new Suspended(this.#describe())
  }

  #describe(): string {
    const [wait] = this.#waits
    const what = wait?.kind === 'event' ? `for the event "${wait.event}"` : 'for its sleep to pass'
    return `job ${this.#job.id} waits ${what}: this run ends here, so let this error pass`
  }
}
