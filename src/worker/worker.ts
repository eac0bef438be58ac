// Wiring and life cycle of a worker: lanes claim, runs come to outcomes and are settled, wake-ups end the lanes' sleep.

import type { Logger } from '../domain/job/context.js'
import type { ClaimedJob } from '../domain/job/job.js'
import type { PipelineDefinition } from '../domain/pipeline/pipeline.js'
import type { EventHub } from '../observe/events.js'
import type { Instrument } from '../observe/instrument.js'
import { claimQuarantined } from '../store/jobs/claim.js'
import { deregisterWorker, putJobTypes, type WorkerRow } from '../store/jobs/workers.js'
import type { Store } from '../store/store.js'
import { AsyncContext } from './async-context.js'
import { Backpressure } from './fetch/backpressure.js'
import { ClaimForQueue } from './fetch/claim-for-queue.js'
import { LoadReport } from './fetch/load-report.js'
import { LoopDelay } from './fetch/loop-delay.js'
import { Quarantine } from './fetch/quarantine.js'
import { QueueFetcher } from './fetch/queue-fetcher.js'
import { ReservedSlots } from './fetch/reserved-slots.js'
import { WakeUp } from './fetch/wake-up.js'
import type { WorkerIdentity } from './identity.js'
import { type HeartbeatListener, type JobReceiver, JobRuns } from './job-life.js'
import { monotonicMs } from './monotonic.js'
import type { CheckedWorkerOptions } from './options.js'
import type { Registry } from './registry.js'
import type { LeasedCalls } from './run/run-context.js'

export interface WorkerParts {
  readonly store: Store
  readonly registry: Registry
  readonly events: EventHub
  readonly log: Logger
  readonly identity: WorkerIdentity
  readonly pipelines: ReadonlyMap<string, PipelineDefinition>
  /** The process does nothing but work. */
  readonly isAlone: boolean
  readonly operations: LeasedCalls
  readonly instrument?: Instrument | undefined
  readonly watch: HeartbeatListener
}

export class Worker {
  readonly #parts: WorkerParts
  readonly #options: CheckedWorkerOptions
  readonly #row: WorkerRow
  readonly #runs: JobRuns
  readonly #wakeup: WakeUp
  readonly #backpressure: Backpressure | undefined
  readonly #lanes: readonly QueueFetcher[]
  readonly #seats: ReservedSlots
  readonly #suspects: Quarantine
  readonly #load: LoadReport
  readonly #loopDelay = new LoopDelay()
  readonly #surroundings = new AsyncContext()
  readonly #unsubscribe: readonly (() => void)[]

  constructor(parts: WorkerParts, options: CheckedWorkerOptions) {
    this.#parts = parts
    this.#options = options
    const { store, registry, events, identity } = parts
    const concurrency = [...options.lanes.values()].reduce((sum, slots) => sum + slots, 0)
    this.#row = { ...identity, queues: [...options.lanes.keys()], types: registry.types, concurrency }
    const receiver = this.#receiver()
    this.#runs = new JobRuns({
      ...parts,
      worker: identity.id,
      wake: () => this.wake(),
      ...(options.directHandoff && { receiver }),
    })
    this.#seats = new ReservedSlots(identity.id, receiver.take, (ask) => this.#runs.claim(ask))
    const { onFault } = this.#runs
    this.#wakeup = new WakeUp(store, { worker: identity.id, queues: this.#row.queues, onFault, ...options })
    this.#backpressure = options.backpressure && new Backpressure(options.backpressure)
    const work = new ClaimForQueue({
      store,
      events,
      row: this.#row,
      runs: this.#runs,
      wakeup: this.#wakeup,
      backpressure: this.#backpressure,
    })
    this.#lanes = [...options.lanes].map(([queue, slots]) => new QueueFetcher(queue, slots, work))
    this.#suspects = new Quarantine({
      claim: () => this.#claimQuarantined(),
      run: (job) => this.#runs.workThrough(job),
      clear: (ms) => this.#clear(ms),
      giveBack: (job) => this.#runs.giveBack([job]),
      reopen: () => this.#reopen(),
      onFault,
    })
    this.#load = new LoadReport(parts.isAlone, (load) => this.#runs.report(load))
    // What this process enqueues it may run at once.
    this.#unsubscribe = [
      events.on('job.enqueued', ({ isClaimed }) => {
        if (!isClaimed) this.wake()
      }),
      events.on('pipeline.enqueued', () => this.wake()),
    ]
  }

  /** There may be work: look now. */
  wake(): void {
    this.#wakeup.wake()
  }

  /** Keeps slots for jobs that this process is about to enqueue; undefined where they must wait their turn. */
  reserve(type: string, queue: string, jobs: number) {
    const lane = this.#lanes.find((each) => each.queue === queue)
    const isWelcome = this.#options.directHandoff && this.#runs.isHealthy && this.#row.types.includes(type)
    return isWelcome && lane ? this.#seats.reserve(lane, jobs) : undefined
  }

  /** A job that two workers died with may wait. */
  expectQuarantined(): void {
    this.#suspects.expect()
  }

  async start(): Promise<void> {
    const { store, registry, events, log } = this.#parts
    const pinned = await putJobTypes(store, registry.definitions)
    for (const type of pinned) log.info({ type }, 'an operator has pinned other settings for this type')
    // What an operator has pinned may be shorter.
    const shortestLeaseMs = pinned.length > 0 ? 0 : registry.shortestLeaseMs
    await this.#runs.start(this.#row, { ...this.#options.keeping, shortestLeaseMs })
    this.#wakeup.start()
    this.#loopDelay.start((delay) => {
      this.#load.look(delay)
      if (this.#backpressure?.look(delay)) for (const lane of this.#lanes) lane.look()
    })
    for (const lane of this.#lanes) lane.start()
    events.emit('worker.started', { worker: this.#row.id, queues: this.#row.queues, types: this.#row.types })
  }

  /** Claims no more, gives the stock back, lets runs end within the grace, then signals them and gives them back too. */
  async stop(): Promise<void> {
    for (const off of this.#unsubscribe) off()
    this.#runs.stopWaiting()
    this.#loopDelay.stop()
    const stopped = Promise.all(this.#lanes.map((lane) => lane.stop()))
    const suspectsStopped = this.#suspects.stop()
    await this.#wakeup.stop()
    this.#runs.giveBack((await stopped).flat())
    await this.#seats.empty()
    await this.#runs.stop(this.#options.graceMs)
    await suspectsStopped
    await deregisterWorker(this.#parts.store, this.#row.id).catch((error) => this.#runs.onFault('deregistering', error))
    this.#parts.events.emit('worker.stopped', { worker: this.#row.id })
  }

  /** Jobs that follow what has just ended here start here, if a slot is free for them. */
  #receiver(): JobReceiver {
    return {
      room: () => new Map(this.#lanes.map((lane) => [lane.queue, lane.free()])),
      take: (jobs, claimedAt) =>
        this.#surroundings.enter(() => {
          void this.#runs.hold(jobs, claimedAt)
          for (const job of jobs) {
            const lane = this.#lanes.find(({ queue }) => queue === job.queue)
            if (!lane?.take(job)) this.#runs.giveBack([job])
          }
        }),
    }
  }

  async #claimQuarantined(): Promise<ClaimedJob | undefined> {
    await this.#runs.whenHealthy()
    const claimedAt = monotonicMs()
    const { id, types, queues } = this.#row
    const job = await this.#runs.claim((leaseId) =>
      claimQuarantined(this.#parts.store, { worker: id, types, leaseId }, queues),
    )
    if (job) await this.#runs.hold([job], claimedAt)
    return job
  }

  /** Empties the worker: nothing is claimed, the stock goes back, and what runs is waited for. */
  async #clear(ms: number): Promise<boolean> {
    const stock = await Promise.all(this.#lanes.map((lane) => lane.hush()))
    this.#runs.giveBack(stock.flat())
    return this.#runs.idle(ms)
  }

  #reopen(): void {
    for (const lane of this.#lanes) lane.resume()
    this.wake()
  }
}
