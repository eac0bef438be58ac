// Wiring and life cycle of a worker: queue fetchers claim jobs, each job goes through its life, and wake-ups end the fetchers'
// sleep.

import type { ClaimedJob } from '../domain/job/job.js'
import type { WorkerDescription } from '../domain/operate/worker-views.js'
import { claimQuarantined } from '../store/jobs/claim.js'
import { deregisterWorker, putJobTypes } from '../store/jobs/workers.js'
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
import { JobLife, type JobLifeParts } from './job-life.js'
import { monotonicMs } from './monotonic.js'
import type { CheckedWorkerOptions } from './options.js'
import type { HandoffReceiver } from './settle/outcome-writer.js'

export interface WorkerParts extends Omit<JobLifeParts, 'worker' | 'receiver' | 'onReleased'> {
  readonly identity: WorkerIdentity
  /** The process does nothing but work. */
  readonly isAlone: boolean
}

export class Worker {
  readonly #parts: WorkerParts
  readonly #options: CheckedWorkerOptions
  readonly #row: WorkerDescription
  readonly #life: JobLife
  readonly #wakeUp: WakeUp
  readonly #backpressure: Backpressure
  readonly #fetchers: readonly QueueFetcher[]
  readonly #reservedSlots: ReservedSlots
  readonly #quarantine: Quarantine
  readonly #loadReport: LoadReport
  readonly #loopDelay = new LoopDelay()
  readonly #context = new AsyncContext()
  readonly #unsubscribe: readonly (() => void)[]

  constructor(parts: WorkerParts, options: CheckedWorkerOptions) {
    this.#parts = parts
    this.#options = options
    const { store, registry, events, identity } = parts
    const concurrency = [...options.queues.values()].reduce((sum, slots) => sum + slots, 0)
    this.#row = { ...identity, queues: [...options.queues.keys()], types: registry.types, concurrency }
    const receiver = this.#handoffReceiver()
    const life = new JobLife({
      ...parts,
      worker: identity.id,
      onReleased: () => this.wake(),
      receiver: options.directHandoff ? receiver : undefined,
    })
    const { onFault, claims } = life
    this.#life = life
    this.#reservedSlots = new ReservedSlots(identity.id, receiver.take, claims)
    this.#wakeUp = new WakeUp(store, {
      ...options,
      worker: identity.id,
      queues: this.#row.queues,
      onAsleep: () => events.emit('worker.asleep', { worker: identity.id }),
      onFault,
    })
    this.#backpressure = new Backpressure(options.backpressure)
    const claimer = new ClaimForQueue({
      store,
      events,
      row: this.#row,
      claims,
      mayClaim: () => life.health.whenHealthy(),
      accept: (jobs, claimedAt) => life.accept(jobs, claimedAt),
    })
    const fetcherParts = { claimer, jobs: life, wakeUp: this.#wakeUp, load: this.#backpressure, onFault }
    this.#fetchers = [...options.queues].map(([queue, slots]) => new QueueFetcher(queue, slots, fetcherParts))
    this.#quarantine = new Quarantine({
      claim: () => this.#claimQuarantined(),
      run: (job) => life.run(job),
      clear: (ms) => this.#clear(ms),
      release: (job) => life.release([job]),
      reopen: () => this.#reopen(),
      onFault,
    })
    this.#loadReport = new LoadReport(parts.isAlone, (load) => life.report(load))
    // A job that this process enqueues may run here at once.
    this.#unsubscribe = [
      events.on('job.enqueued', ({ isClaimed }) => {
        if (!isClaimed) this.wake()
      }),
      events.on('pipeline.enqueued', () => this.wake()),
    ]
  }

  /** There may be work: polls now. */
  wake(): void {
    this.#wakeUp.wake()
  }

  /** Reserves slots for jobs that this process is about to enqueue; undefined where other jobs go first. */
  reserve(type: string, queue: string, jobs: number) {
    const fetcher = this.#fetchers.find((each) => each.slots.queue === queue)
    const isAllowed = this.#options.directHandoff && this.#life.health.isHealthy && this.#row.types.includes(type)
    return isAllowed && fetcher ? this.#reservedSlots.reserve(fetcher, jobs) : undefined
  }

  /** A job may be in quarantine. */
  expectQuarantined(): void {
    this.#quarantine.expect()
  }

  async start(): Promise<void> {
    const { store, registry, events, log } = this.#parts
    const pinned = await putJobTypes(store, registry.definitions)
    for (const type of pinned) log.info({ type }, 'an operator has pinned other settings for this type')
    // A pinned lease may be shorter than any in code.
    const shortestLeaseMs = pinned.length > 0 ? 0 : registry.shortestLeaseMs
    await this.#life.open(this.#row, { ...this.#options.renewal, shortestLeaseMs })
    this.#wakeUp.start()
    this.#loopDelay.start((delay) => {
      this.#loadReport.measured(delay)
      if (this.#backpressure.measured(delay)) for (const fetcher of this.#fetchers) fetcher.onMoreRoom()
    })
    for (const fetcher of this.#fetchers) fetcher.start()
    events.emit('worker.started', { worker: this.#row.id, queues: this.#row.queues, types: this.#row.types })
  }

  /** Claims no more, releases prefetched jobs, lets runs end within the grace, then signals them and releases them too. */
  async stop(): Promise<void> {
    for (const off of this.#unsubscribe) off()
    this.#life.stopWaiting()
    this.#loopDelay.stop()
    const prefetched = Promise.all(this.#fetchers.map((fetcher) => fetcher.stop()))
    const quarantineStopped = this.#quarantine.stop()
    await this.#wakeUp.stop()
    this.#life.release((await prefetched).flat())
    await this.#reservedSlots.empty()
    await this.#life.stop(this.#options.graceMs)
    await quarantineStopped
    await deregisterWorker(this.#parts.store, this.#row.id).catch((error) => this.#life.onFault('deregistering', error))
    this.#parts.events.emit('worker.stopped', { worker: this.#row.id })
  }

  /** Jobs that are claimed with the enqueue, or with the completion of the step before them, start here. */
  #handoffReceiver(): HandoffReceiver {
    return {
      room: () => new Map(this.#fetchers.map(({ slots }) => [slots.queue, slots.free])),
      take: (jobs, claimedAt) =>
        this.#context.enter(() => {
          void this.#life.accept(jobs, claimedAt)
          for (const job of jobs) {
            const fetcher = this.#fetchers.find(({ slots }) => slots.queue === job.queue)
            if (!fetcher?.take(job)) this.#life.release([job])
          }
        }),
    }
  }

  async #claimQuarantined(): Promise<ClaimedJob | undefined> {
    await this.#life.health.whenHealthy()
    const claimedAt = monotonicMs()
    const { id, types, queues } = this.#row
    const job = await this.#life.claims.claim((leaseId) =>
      claimQuarantined(this.#parts.store, { worker: id, types, leaseId }, queues),
    )
    if (job) await this.#life.accept([job], claimedAt)
    return job
  }

  /** Empties the worker: claims nothing, releases prefetched jobs and waits for what runs. */
  async #clear(ms: number): Promise<boolean> {
    const prefetched = await Promise.all(this.#fetchers.map((fetcher) => fetcher.pause()))
    this.#life.release(prefetched.flat())
    return this.#life.idle(ms)
  }

  #reopen(): void {
    for (const fetcher of this.#fetchers) fetcher.resume()
    this.wake()
  }
}
