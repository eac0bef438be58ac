// The durable steps and waits of one run: replays the outputs of earlier attempts, and ends the run where it must wait.

import { HoldfastError } from '../../domain/error/errors.js'
import { type ClaimedJob, checkLabel } from '../../domain/job/job.js'
import {
  encodeStepOutput,
  type FoundEvent,
  type StepKind,
  type StoredStep,
  type Wait,
} from '../../domain/run/durable-step.js'
import { type Duration, durationMs } from '../../domain/value/duration.js'
import { LIMITS } from '../../domain/value/sizes.js'
import type { DurableStepCalls } from '../leased-calls.js'
import type { Cancellation } from './cancellation.js'

/** Thrown where a handler must wait, so that its `finally` blocks run. Catching it does not keep the run going. */
class Suspended extends Error {
  static {
    Suspended.prototype.name = 'Suspended'
  }
}

export class RunSteps {
  readonly #job: ClaimedJob
  readonly #cancellation: Cancellation
  readonly #calls: DurableStepCalls
  readonly #used = new Set<string>()
  readonly #running = new Set<Promise<unknown>>()
  readonly #waits: Wait[] = []
  #remembered: Promise<ReadonlyMap<string, StoredStep>> | undefined
  #unnamedSleeps = 0

  constructor(job: ClaimedJob, cancellation: Cancellation, calls: DurableStepCalls) {
    this.#job = job
    this.#cancellation = cancellation
    this.#calls = calls
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
    // A wait in parallel has ended the run meanwhile: this step belongs to the next one.
    if (this.isSuspended) return this.endHere()
    if (known) return known.output as T
    this.#cancellation.throwIfRequested()
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
    const found = await this.#calls.pollEvent(this.#job, name, event)
    if (found) return this.#payload<T>(found, event)
    return this.#suspend({ kind: 'event', name, event, delayMs })
  }

  /** For a handler that has caught Suspended and continues: its calls have no effect any more. Never settles. */
  endHere(): Promise<never> {
    this.#cancellation.cutOff(new Suspended(this.#describe()))
    return new Promise<never>(() => {})
  }

  /** Resolves when no step is running any more: the output of a running step is still stored. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  /** What earlier runs stored under this name; refuses a name that this run has used. */
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
    const steps = await this.#calls.readSteps(this.#job)
    return new Map(steps.map((step) => [`${step.kind} ${step.name}`, step]))
  }

  async #run<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const output = encodeStepOutput(name, await work())
    await this.#calls.rememberStep(this.#job, name, output, () => this.#cancellation.reason !== undefined)
    // The same value that a later attempt gets.
    return JSON.parse(output)
  }

  #payload<T>({ payload, isTimeout }: FoundEvent, event: string): T {
    if (!isTimeout) return payload as T
    throw new HoldfastError('EVENT_TIMEOUT', `the event "${event}" did not come within the time given`, {
      details: { jobId: this.#job.id, event },
    })
  }

  #suspend(wait: Wait): never {
    this.#cancellation.throwIfRequested()
    this.#waits.push(wait)
    throw new Suspended(this.#describe())
  }

  #describe(): string {
    const [wait] = this.#waits
    const what = wait?.kind === 'event' ? `for the event "${wait.event}"` : 'for its sleep to pass'
    return `job ${this.#job.id} waits ${what}: this run ends here, so let this error pass`
  }
}
