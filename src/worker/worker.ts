// Wiring and life cycle of a worker: lanes claim, runs come to outcomes and are settled, wake-ups end the lanes' sleep.

import type { Logger } from '../domain/context.js'
import type { ClaimedJob } from '../domain/job.js'
import type { EventHub } from '../observe/events.js'
import { type Cursor, claimJobs } from '../store/claim.js'
import type { Store } from '../store/open.js'
import { beatWorker, deregisterWorker, putJobTypes, registerWorker, type WorkerRow } from '../store/workers.js'
import type { WorkerIdentity } from './identity.js'
import { JobRuns } from './job-runs.js'
import { Lane } from './lane.js'
import type { CheckedWorkerOptions } from './options.js'
import type { Registry } from './registry.js'
import { Wakeup } from './wakeup.js'

export interface WorkerParts {
  readonly store: Store
  readonly registry: Registry
  readonly events: EventHub
  readonly log: Logger
  readonly identity: WorkerIdentity
}

export class Worker {
  readonly #parts: WorkerParts
  readonly #options: CheckedWorkerOptions
  readonly #row: WorkerRow
  readonly #runs: JobRuns
  readonly #wakeup: Wakeup
  readonly #lanes: readonly Lane[]
  readonly #unsubscribe: (() => void)[]

  constructor(parts: WorkerParts, options: CheckedWorkerOptions) {
    this.#parts = parts
    this.#options = options
    const { store, registry, events, identity } = parts
    const concurrency = [...options.lanes.values()].reduce((sum, slots) => sum + slots, 0)
    this.#row = { ...identity, queues: [...options.lanes.keys()], types: registry.types, concurrency }
    this.#runs = new JobRuns({ ...parts, worker: identity.id, beat: () => this.#beat() })
    const onFault = this.#runs.fault
    this.#wakeup = new Wakeup(store, { worker: identity.id, queues: this.#row.queues, onFault, ...options })
    this.#lanes = [...options.lanes].map(
      ([queue, slots]) =>
        new Lane(queue, slots, {
          claim: (name, n, from) => this.#claim(name, n, from),
          run: (job) => this.#runs.work(job),
          sleep: () => this.#wakeup.sleep(),
          onFault,
        }),
    )
    // What this process enqueues it may run at once.
    this.#unsubscribe = [events.on('job.enqueued', () => this.#wakeup.wake())]
  }

  async start(): Promise<void> {
    const { store, registry, events, log } = this.#parts
    const pinned = await putJobTypes(store, registry.definitions)
    for (const type of pinned) log.info({ type }, 'an operator has pinned other settings for this type')
    await registerWorker(store, this.#row)
    this.#wakeup.start()
    this.#runs.start()
    for (const lane of this.#lanes) lane.start()
    events.emit('worker.started', { worker: this.#row.id, queues: this.#row.queues, types: this.#row.types })
  }

  /** Claims no more, gives the stock back, lets runs end within the grace, then signals them and gives them back too. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    const stopped = Promise.all(this.#lanes.map((lane) => lane.stop()))
    await this.#wakeup.stop()
    this.#runs.giveBack((await stopped).flat())
    await this.#runs.stop(this.#options.graceMs)
    await deregisterWorker(this.#parts.store, this.#row.id).catch((error) => this.#runs.fault('deregistering', error))
    this.#parts.events.emit('worker.stopped', { worker: this.#row.id })
  }

  async #claim(queue: string, n: number, from: Cursor): Promise<ClaimedJob[]> {
    const claimedAt = performance.now()
    const jobs = await claimJobs(this.#parts.store, { worker: this.#row.id, queue, types: this.#row.types, n, from })
    for (const job of jobs) this.#runs.hold(job, claimedAt)
    return jobs
  }

  async #beat(): Promise<void> {
    if (!(await beatWorker(this.#parts.store, this.#row.id))) await registerWorker(this.#parts.store, this.#row)
  }
}
