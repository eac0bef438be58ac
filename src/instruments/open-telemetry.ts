// Traces and metrics by OpenTelemetry: a producer span per enqueue, a consumer span per run, linked by the trace that the job
// carries. It uses only the API: without an SDK it does nothing.

import {
  type Attributes,
  context,
  type Link,
  type MeterProvider,
  metrics,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import type { ClaimedJob } from '../domain/job/job.js'
import type { Outcome } from '../domain/run/outcome.js'
import type { EnqueueCall, Instrument } from '../observe/instrument.js'
import { ATTRIBUTES, DURATION_BUCKETS, METRICS, OPERATIONS, SYSTEM } from './semantic-conventions.js'

export interface OpenTelemetryOptions {
  /** `link` (default): a run is a trace of its own, linked to the span of its enqueue. `parent`: both are in one trace. */
  readonly relation?: 'link' | 'parent'
  /** Default: the globally registered ones. */
  readonly tracerProvider?: TracerProvider
  readonly meterProvider?: MeterProvider
}

/** For the option `instrument` of createHoldfast. */
export function openTelemetry(options: OpenTelemetryOptions = {}): Instrument {
  const tracer = (options.tracerProvider ?? trace).getTracer('holdfast')
  const meters = metersOf(options.meterProvider ?? metrics)
  const isParent = options.relation === 'parent'

  return {
    enqueue(call, send) {
      const attributes = enqueueAttributes(call)
      const { enqueue } = OPERATIONS
      return tracer.startActiveSpan(`${enqueue.name} ${call.queue}`, { kind: SpanKind.PRODUCER, attributes }, (span) =>
        timed(async () => {
          const ids = await send(traceparentOf(span.spanContext()))
          if (ids.length === 1) span.setAttribute(ATTRIBUTES.messageId, String(ids[0]))
          return ids
        }).then(({ result, error, seconds }) => {
          const labels = error === undefined ? attributes : { ...attributes, [ATTRIBUTES.errorType]: errorType(error) }
          meters.operationDuration.record(seconds, metricAttributes(labels))
          if (result) meters.sent.add(result.length, metricAttributes(labels))
          if (error !== undefined) fail(span, error)
          span.end()
          if (result) return result
          throw error
        }),
      )
    },

    run(job, start) {
      const attributes = runAttributes(job)
      const origin = spanContextOf(job.trace)
      const links: Link[] = origin && !isParent ? [{ context: origin }] : []
      const parent = origin && isParent ? trace.setSpanContext(ROOT_CONTEXT, origin) : ROOT_CONTEXT
      const described = { kind: SpanKind.CONSUMER, attributes, links }
      const span = tracer.startSpan(`${OPERATIONS.process.name} ${job.queue}`, described, parent)
      const startedAt = performance.now()
      meters.consumed.add(1, metricAttributes(attributes))
      return context.with(trace.setSpan(parent, span), start).then((outcome) => {
        const labels = { ...attributes, ...outcomeAttributes(outcome) }
        span.setAttributes(outcomeAttributes(outcome))
        if (outcome.kind === 'failed') {
          const { name, message, stack } = outcome.failure
          span.recordException({ name, message, ...(stack !== undefined && { stack }) })
          span.setStatus({ code: SpanStatusCode.ERROR, message })
        }
        meters.processDuration.record((performance.now() - startedAt) / 1000, metricAttributes(labels))
        span.end()
        return outcome
      })
    },
  }
}

function metersOf(provider: Pick<MeterProvider, 'getMeter'>) {
  const meter = provider.getMeter('holdfast')
  const duration = { unit: 's', advice: { explicitBucketBoundaries: DURATION_BUCKETS } }
  return {
    sent: meter.createCounter(METRICS.sent, { unit: '{message}', description: 'Jobs that were enqueued' }),
    consumed: meter.createCounter(METRICS.consumed, { unit: '{message}', description: 'Runs that were started' }),
    operationDuration: meter.createHistogram(METRICS.operationDuration, {
      ...duration,
      description: 'How long an enqueue took',
    }),
    processDuration: meter.createHistogram(METRICS.processDuration, {
      ...duration,
      description: 'How long a run took',
    }),
  }
}

function enqueueAttributes({ type, queue, jobs }: EnqueueCall): Attributes {
  return {
    ...operation(OPERATIONS.enqueue, queue),
    [ATTRIBUTES.type]: type,
    ...(jobs > 1 && { [ATTRIBUTES.batchCount]: jobs }),
  }
}

function runAttributes({ id, type, queue, attempts }: ClaimedJob): Attributes {
  return {
    ...operation(OPERATIONS.process, queue),
    [ATTRIBUTES.type]: type,
    [ATTRIBUTES.messageId]: id,
    [ATTRIBUTES.attempt]: attempts,
  }
}

function operation({ name, type }: { name: string; type: string }, queue: string): Attributes {
  return {
    [ATTRIBUTES.system]: SYSTEM,
    [ATTRIBUTES.operationName]: name,
    [ATTRIBUTES.operationType]: type,
    [ATTRIBUTES.destination]: queue,
  }
}

function outcomeAttributes(outcome: Outcome): Attributes {
  const error = outcome.kind === 'failed' ? { [ATTRIBUTES.errorType]: outcome.failure.name } : undefined
  return { [ATTRIBUTES.outcome]: outcome.kind, ...error }
}

// A value that differs per job or batch would create one series each.
const UNBOUNDED: readonly string[] = [ATTRIBUTES.messageId, ATTRIBUTES.attempt, ATTRIBUTES.batchCount]

function metricAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !UNBOUNDED.includes(name)))
}

async function timed<T>(work: () => Promise<T>): Promise<{ result?: T; error?: unknown; seconds: number }> {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  try {
    return { result: await work(), seconds: seconds() }
  } catch (error) {
    return { error, seconds: seconds() }
  }
}

interface Failing {
  recordException(error: Error): void
  setStatus(status: { code: SpanStatusCode; message: string }): unknown
}

function fail(span: Failing, error: unknown): void {
  const failure = error instanceof Error ? error : new Error(String(error))
  span.recordException(failure)
  span.setStatus({ code: SpanStatusCode.ERROR, message: failure.message })
}

function errorType(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return String(code ?? name ?? 'Error')
}

const NO_TRACE = /^0+$/

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string | undefined {
  // Without an SDK a span has no trace id.
  if (NO_TRACE.test(traceId)) return undefined
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

function spanContextOf(traceparent: string | null): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparent?.split('-') ?? []
  if (!traceId || !spanId || !flags || NO_TRACE.test(traceId) || NO_TRACE.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
