// Metrics for Prometheus: counters and histograms from the lifecycle events of this process, gauges of the whole installation read from
// the database at each scrape. Base units, and no label that grows with the number of jobs.

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Measures } from '../client/measures.js'
import type { EventName, Events, JobReference } from '../observe/events.js'

/** The part of a Holdfast that metrics need. */
export interface Measured {
  on<N extends EventName>(name: N, listener: (event: Events[N]) => void): () => void
  measure(): Promise<Measures>
}

export interface PrometheusMetrics {
  readonly register: Registry
  readonly contentType: string
  /** The whole registry as text. */
  text(): Promise<string>
  /** The same as an answer, for anything that speaks Request and Response. */
  handle(): Promise<Response>
  /** Removes its listeners and its metrics from the registry. */
  stop(): void
}

// All gauges of one scrape share one read of the database.
const FRESH_MS = 1000
// Queue names are unbounded: the ones above this number share one series.
const MOST_NAMES = 200
const OTHER = 'other'

const WAIT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]
const RUN_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]
const CLAIM_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

export function prometheus(holdfast: Measured, options: { readonly register?: Registry } = {}): PrometheusMetrics {
  const register = options.register ?? new Registry()
  const names: string[] = []
  const named = (name: string, help: string) => {
    names.push(name)
    return { name, help, registers: [register] }
  }
  const offs = countEvents(holdfast, named)
  addGauges(holdfast, named)
  const text = () => register.metrics()
  return {
    register,
    contentType: register.contentType,
    text,
    handle: async () => new Response(await text(), { headers: { 'content-type': register.contentType } }),
    stop() {
      for (const off of offs) off()
      for (const name of names) register.removeSingleMetric(name)
    },
  }
}

type Named = (name: string, help: string) => { name: string; help: string; registers: Registry[] }

function countEvents(holdfast: Measured, named: Named): (() => void)[] {
  const labelNames = ['queue', 'type'] as const
  const bound = boundedLabels()
  const labelsOf = ({ queue, type }: JobReference) => bound(queue, type)
  const counter = (name: string, help: string) => new Counter({ ...named(name, help), labelNames })
  const enqueued = counter('holdfast_jobs_enqueued_total', 'Jobs that this process enqueued outside of transactions')
  const finished = new Counter({
    ...named('holdfast_jobs_finished_total', 'Jobs that this process finished'),
    labelNames: [...labelNames, 'outcome'],
  })
  const retried = counter('holdfast_job_retries_total', 'Attempts of this process that failed and will be retried')
  const lost = counter('holdfast_jobs_lost_total', 'Runs of this process that lost their lease')
  const reaped = new Counter(named('holdfast_jobs_reaped_total', 'Jobs that this process took from dead workers'))
  const faults = new Counter(
    named('holdfast_worker_faults_total', 'Failed operations of the worker and its maintenance'),
  )
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ ...named(name, help), labelNames, buckets })
  const waits = histogram('holdfast_job_wait_seconds', 'From due to started', WAIT_BUCKETS)
  const runs = histogram('holdfast_job_run_seconds', 'How long runs took', RUN_BUCKETS)
  const claims = new Histogram({
    ...named('holdfast_claim_duration_seconds', 'How long a poll of a queue took'),
    labelNames: ['queue'],
    buckets: CLAIM_BUCKETS,
  })
  const finish = (event: JobReference, outcome: string) => finished.inc({ ...labelsOf(event), outcome })

  return [
    holdfast.on('job.enqueued', ({ queue, type, ids }) => enqueued.inc(bound(queue ?? 'default', type), ids.length)),
    holdfast.on('job.started', (event) => {
      if (event.waitMs !== null) waits.observe(labelsOf(event), event.waitMs / 1000)
    }),
    holdfast.on('job.completed', (event) => {
      finish(event, 'completed')
      runs.observe(labelsOf(event), event.ms / 1000)
    }),
    holdfast.on('job.failed', (event) => {
      if (event.isFinal) finish(event, 'failed')
      else retried.inc(labelsOf(event))
      runs.observe(labelsOf(event), event.ms / 1000)
    }),
    holdfast.on('job.cancelled', (event) => finish(event, 'cancelled')),
    holdfast.on('job.lost', (event) => lost.inc(labelsOf(event))),
    holdfast.on('job.reaped', ({ jobs }) => reaped.inc(jobs.length)),
    holdfast.on('worker.claimed', ({ queue, ms }) => claims.observe({ queue: bound(queue, '').queue }, ms / 1000)),
    holdfast.on('worker.fault', () => faults.inc()),
  ]
}

function addGauges(holdfast: Measured, named: Named): void {
  const measure = shared(() =>
    holdfast.measure().catch(() => {
      errors.inc()
      return undefined
    }),
  )
  const errors: Counter = new Counter({
    ...named('holdfast_measure_errors_total', 'Scrapes that could not read the gauges'),
    // Must read after the measurement whose error it counts.
    collect: async () => {
      await measure()
    },
  })
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    read: (measures: Measures) => [Record<L, string>, number][],
  ) =>
    new Gauge<L>({
      ...named(name, help),
      labelNames,
      async collect() {
        const measures = await measure()
        // An unknown value is absent instead of outdated.
        this.reset()
        if (!measures) this.remove({} as Record<L, string>)
        else for (const [labels, value] of read(measures)) this.set(labels, value)
      },
    })
  const perQueue = (of: Measures['queues']) => of.slice(0, MOST_NAMES)
  gauge('holdfast_jobs', 'Jobs that are due or running, counted to 10,000', ['queue', 'state'], ({ queues }) =>
    perQueue(queues).flatMap(({ queue, due, running }) => [
      [{ queue, state: 'due' }, due],
      [{ queue, state: 'running' }, running],
    ]),
  )
  gauge('holdfast_queue_oldest_age_seconds', 'How long the oldest due job has waited', ['queue'], ({ queues }) =>
    perQueue(queues).map(({ queue, oldestAgeMs }) => [{ queue }, oldestAgeMs / 1000]),
  )
  gauge('holdfast_queue_paused', 'Whether the queue is paused, 1 or 0', ['queue'], ({ queues }) =>
    perQueue(queues).map(({ queue, isPaused }) => [{ queue }, isPaused ? 1 : 0]),
  )
  gauge('holdfast_workers', 'Workers that are alive', [], ({ workers }) => [[{}, workers]])
  gauge(
    'holdfast_worker_slots',
    'Jobs that they can run at once, by whether the slot is busy',
    ['state'],
    ({ queues, slots }) => {
      const busy = queues.reduce((sum, { running }) => sum + running, 0)
      return [
        [{ state: 'busy' }, busy],
        [{ state: 'free' }, Math.max(0, slots - busy)],
      ]
    },
  )
  gauge('holdfast_schedule_lag_seconds', 'How long the most overdue schedule has waited', [], ({ scheduleLagMs }) => [
    [{}, scheduleLagMs / 1000],
  ])
}

function boundedLabels(): (queue: string, type: string) => { queue: string; type: string } {
  const known = { queue: new Set<string>(), type: new Set<string>() }
  const bound = (of: Set<string>, name: string) => {
    if (of.size < MOST_NAMES) of.add(name)
    return of.has(name) ? name : OTHER
  }
  return (queue, type) => ({ queue: bound(known.queue, queue), type: bound(known.type, type) })
}

function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let latest: { at: number; answer: Promise<T> } | undefined
  return () => {
    const now = performance.now()
    if (!latest || now - latest.at > FRESH_MS) latest = { at: now, answer: ask() }
    return latest.answer
  }
}
