// The real SDK receives linked spans and metrics of a real worker.
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { openTelemetry } from '../../src/instruments/open-telemetry.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const spans = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })

beforeAll(() => context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()))
afterAll(() => context.disable())
beforeEach(() => spans.reset())

const spanOf = (name: string) => {
  const found = spans.getFinishedSpans().find((span) => span.name === name)
  if (!found) throw new Error(`no span ${name}, only ${spans.getFinishedSpans().map((span) => span.name)}`)
  return found
}

const hello = defineJob({ type: 'hello', queue: 'mail', run: () => 'done' })

test('a run is a span of its own, linked to the span that enqueued it, whichever process runs it', async () => {
  const producer = bench.open({ jobs: [hello], instrument: openTelemetry({ tracerProvider }) })
  const consumer = bench.open({ jobs: [hello], instrument: openTelemetry({ tracerProvider }) })
  const handle = await producer.enqueue(hello, {})
  const completed = heard(consumer, 'job.completed')
  await consumer.start()
  await completed

  const send = spanOf('enqueue mail')
  const run = spanOf('process mail')
  expect(send.kind).toBe(SpanKind.PRODUCER)
  expect(run.kind).toBe(SpanKind.CONSUMER)
  expect(run.links.map((link) => link.context.spanId)).toEqual([send.spanContext().spanId])
  expect(run.links[0]?.context.traceId).toBe(send.spanContext().traceId)
  expect(run.spanContext().traceId).not.toBe(send.spanContext().traceId)
  expect(send.attributes).toMatchObject({
    'messaging.system.name': 'holdfast',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'mail',
    'messaging.message.id': handle.id,
  })
  expect(run.attributes).toMatchObject({ 'messaging.operation.type': 'process', 'holdfast.job.outcome': 'completed' })
})

test('by option a run continues the trace of what enqueued it', async () => {
  const holdfast = bench.open({ jobs: [hello], instrument: openTelemetry({ tracerProvider, relation: 'parent' }) })
  const handle = await holdfast.enqueue(hello, {})
  await holdfast.runJob(handle.id)

  const send = spanOf('enqueue mail')
  const run = spanOf('process mail')
  expect(run.parentSpanContext?.spanId).toBe(send.spanContext().spanId)
  expect(run.spanContext().traceId).toBe(send.spanContext().traceId)
  expect(run.links).toEqual([])
})

test('what a handler traces and enqueues belongs to its run', async () => {
  const next = defineJob({ type: 'next', queue: 'bulk', run: () => {} })
  const first = defineJob({
    type: 'first',
    queue: 'mail',
    async run() {
      await Promise.resolve()
      tracerProvider.getTracer('app').startSpan('inner').end()
      await holdfast.enqueue(next, {})
    },
  })
  const holdfast = bench.open({ jobs: [first, next], instrument: openTelemetry({ tracerProvider }) })
  const handle = await holdfast.enqueue(first, {})
  await holdfast.runJob(handle.id)

  const run = spanOf('process mail').spanContext()
  expect(spanOf('inner').parentSpanContext?.spanId).toBe(run.spanId)
  expect(spanOf('enqueue bulk').parentSpanContext?.spanId).toBe(run.spanId)
})

test('many jobs of one enqueue are linked to one span, also of the application’s own', async () => {
  const holdfast = bench.open({ jobs: [hello], instrument: openTelemetry({ tracerProvider }) })
  const request = tracerProvider.getTracer('app').startSpan('request')
  const handles = await context.with(trace.setSpan(context.active(), request), () =>
    holdfast.enqueueMany(hello, [{}, {}]),
  )
  request.end()
  for (const { id } of handles) await holdfast.runJob(id)

  const send = spanOf('enqueue mail')
  expect(send.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  expect(send.attributes['messaging.batch.message_count']).toBe(2)
  const runs = spans.getFinishedSpans().filter((span) => span.name === 'process mail')
  expect(runs.map((run) => run.links[0]?.context.spanId)).toEqual(handles.map(() => send.spanContext().spanId))
})

test('a failed run and a refused enqueue are errors on their spans', async () => {
  const broken = defineJob({
    type: 'broken',
    queue: 'mail',
    run() {
      throw new TypeError('no such thing')
    },
  })
  const holdfast = bench.open({ jobs: [broken], instrument: openTelemetry({ tracerProvider }) })
  const handle = await holdfast.enqueue(broken, {})
  await holdfast.runJob(handle.id)
  await expect(holdfast.enqueue(broken, {}, { queue: 'bulk', tx: 7 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })

  expect(spanOf('process mail').status).toEqual({ code: SpanStatusCode.ERROR, message: 'no such thing' })
  expect(spanOf('process mail').attributes['error.type']).toBe('TypeError')
  expect(spanOf('process mail').events[0]?.name).toBe('exception')
  expect(spanOf('enqueue bulk').status.code).toBe(SpanStatusCode.ERROR)
})

test('a trace given by hand is kept, and shown with the job', async () => {
  const given = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const holdfast = bench.open({ jobs: [hello], instrument: openTelemetry({ tracerProvider }) })
  const handle = await holdfast.enqueue(hello, {}, { trace: given })
  await holdfast.runJob(handle.id)

  expect((await handle.read()).trace).toBe(given)
  expect(spanOf('process mail').links[0]?.context.spanId).toBe('b'.repeat(16))
  await expect(holdfast.enqueue(hello, {}, { trace: 'x' })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test('metrics count what was sent and consumed and how long it took', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const holdfast = bench.open({ jobs: [hello], instrument: openTelemetry({ tracerProvider, meterProvider }) })
  const handles = await holdfast.enqueueMany(hello, [{}, {}, {}])
  for (const { id } of handles) await holdfast.runJob(id)
  await reader.forceFlush()

  const points = new Map(
    exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap((scope) => scope.metrics)
      .map((metric) => [metric.descriptor.name, metric.dataPoints]),
  )
  expect(points.get('messaging.client.sent.messages')?.[0]?.value).toBe(3)
  expect(points.get('messaging.client.consumed.messages')?.[0]?.value).toBe(3)
  expect(points.get('messaging.process.duration')?.[0]?.value).toMatchObject({ count: 3 })
  expect(points.get('messaging.client.operation.duration')?.[0]?.value).toMatchObject({ count: 1 })
  expect(points.get('messaging.process.duration')?.[0]?.attributes).not.toHaveProperty('messaging.message.id')
  await meterProvider.shutdown()
})

test('without an SDK nothing travels and everything runs', async () => {
  const holdfast = bench.open({ jobs: [hello], instrument: openTelemetry() })
  const handle = await holdfast.enqueue(hello, {})

  expect(await holdfast.runJob(handle.id)).toBe(true)
  expect(await handle.read()).toMatchObject({ trace: null, state: 'completed' })
})
