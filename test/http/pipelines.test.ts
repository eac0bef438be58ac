// Pipelines, remembered steps and explanations over HTTP: what is shown to whom, what is done, and what streams tell.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, definePipeline } from '../../src/index.js'
import { readEvents } from '../support/event-reader.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { useDesk } from '../support/http.js'

const fetched = defineJob({
  type: 'fetch',
  queue: 'billing',
  redact: ['card.number'],
  run: (input: { card: { number: number }; fail?: boolean | undefined }) => {
    if (input.fail) throw new Error('the bank said no')
    return { card: input.card, rows: 3 }
  },
  retry: { attempts: 1 },
})
const book = defineJob({ type: 'book', queue: 'billing', run: ({ rows }: { rows: number }) => ({ booked: rows }) })
const tell = defineJob({ type: 'tell', queue: 'mail', run: () => 'told' })

const billing = definePipeline({
  name: 'billing',
  input: z.object({ card: z.object({ number: z.number() }), fail: z.boolean().optional() }),
  build: (p, input) => {
    const got = p.job(fetched, input)
    return p.job(book, { got }, (results) => ({ rows: results.got.rows }))
  },
})
const announced = definePipeline({
  name: 'announced',
  build: (p) => {
    const booked = p.job(book, { rows: 1 })
    p.job(tell, {}, { after: [booked] })
  },
})
const circle = definePipeline({
  name: 'circle',
  build: (p) => {
    p.job(tell, {}, { name: 'a', after: ['b'] })
    p.job(tell, {}, { name: 'b', after: ['a'] })
  },
})
const remembering = defineJob({
  type: 'remembering',
  queue: 'billing',
  redact: ['card.number'],
  run: async (_input: unknown, ctx) => {
    await ctx.step('read', () => ({ card: { number: 4111 }, rows: 3 }))
    await ctx.waitFor('approved', { timeout: '1h' })
  },
})

const bench = useHoldfast()
const openDesk = useDesk()

function open() {
  const jobs = [fetched, book, tell, remembering]
  const holdfast = bench.open({ jobs, pipelines: [billing, announced, circle] })
  return { holdfast, ...openDesk(holdfast) }
}

const INPUT = { card: { number: 4111 } }

async function operations() {
  return bench.look(
    `select actor, action, details ->> 'pipeline_id' as id from holdfast.audit where action ~ 'pipeline' order by id`,
  )
}

describe('a pipeline over HTTP', () => {
  test('is enqueued by its name, listed, and shown as a graph with its progress', async () => {
    const ask = open().as({ name: 'ada' })

    const made = await ask('POST /api/pipelines', { name: 'billing', input: INPUT })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.headers.get('location')).toBe(`pipelines/${id}`)
    expect(await operations()).toEqual([{ actor: 'ada', action: 'enqueue_pipeline', id }])
    const { rows } = (await ask('GET /api/pipelines')).body
    expect(rows).toMatchObject([{ id, name: 'billing', state: 'running', jobs: { pending: 1, waiting: 1 } }])

    const { body } = await ask(`GET /api/pipelines/${id}`)
    expect(body.pipeline).toMatchObject({ id, state: 'running', onFailure: 'stop', queues: ['billing'], hidden: [] })
    expect(body.progress).toMatchObject({ pending: 1, waiting: 1, total: 2, share: 0 })
    const [first, second] = body.steps.rows
    expect(first).toMatchObject({ step: 'fetch', state: 'pending', dependsOn: [] })
    expect(second).toMatchObject({ step: 'book', state: 'waiting', dependsOn: [first.id], dependencies: 1 })
    expect(body.result).toMatchObject({ jobId: second.id, step: 'book', state: 'waiting', output: null })
    const page = (await ask(`GET /api/pipelines/${id}/steps?limit=1`)).body
    expect(page.rows).toMatchObject([{ id: first.id }])
    const rest = (await ask(`GET /api/pipelines/${id}/steps?after=${page.next}`)).body
    expect(rest).toMatchObject({ rows: [{ id: second.id }], next: null })
  })

  test('shows its result, redacted, and its input only to those who may see it', async () => {
    const { holdfast, as } = open()
    const { id } = (await as()('POST /api/pipelines', { name: 'billing', input: INPUT })).body
    await holdfast.start()
    await holdfast.pipeline(id).result({ timeout: '60s' })
    await holdfast.stop()

    const seen = (await as()(`GET /api/pipelines/${id}`)).body
    expect(seen).toMatchObject({
      pipeline: { state: 'completed', input: { card: { number: '[redacted]' } } },
      progress: { completed: 2, share: 1 },
      result: { state: 'completed', output: { booked: 3 } },
    })
    const unseen = (await as({ permissions: ['view'] })(`GET /api/pipelines/${id}`)).body
    expect(unseen.pipeline).not.toHaveProperty('input')
    expect(unseen.result).not.toHaveProperty('output')
    expect(unseen.pipeline.hidden).toEqual(['input', 'output'])
  })

  test('is cancelled as a whole, retried from where it stopped, and refused a retry while it runs', async () => {
    const ask = open().as({ name: 'ada' })
    const { id } = (await ask('POST /api/pipelines', { name: 'billing', input: INPUT })).body

    expect((await ask(`POST /api/pipelines/${id}/retry`, {})).body).toMatchObject({ status: 409, code: 'WRONG_STATE' })
    expect((await ask(`POST /api/pipelines/${id}/cancel`, { reason: 'wrong month' })).body).toEqual({
      id,
      cancelled: 2,
    })
    const { body } = await ask(`GET /api/pipelines/${id}`)
    expect(body.pipeline.state).toBe('cancelled')
    expect(body.steps.rows[0].error.message).toBe('wrong month')
    expect((await ask(`POST /api/pipelines/${id}/retry`, {})).body).toEqual({ id, steps: 2 })
    expect((await ask(`GET /api/pipelines/${id}`)).body.pipeline.state).toBe('running')

    expect(await operations()).toEqual([
      { actor: 'ada', action: 'enqueue_pipeline', id },
      { actor: 'ada', action: 'cancel_pipeline', id },
      { actor: 'ada', action: 'retry_pipeline', id },
    ])
  })

  test('that failed says which step stopped it', async () => {
    const { holdfast, as } = open()
    const { id } = await holdfast.enqueuePipeline(billing, { ...INPUT, fail: true })
    await holdfast.start()
    await until(async () => (await holdfast.pipeline(id).read()).state === 'failed')
    await holdfast.stop()

    const { pipeline, steps } = (await as()(`GET /api/pipelines/${id}`)).body

    expect(steps.rows).toMatchObject([
      { id: pipeline.stoppedBy, state: 'failed', error: { message: 'the bank said no' } },
      { state: 'cancelled' },
    ])
  })

  test.each([
    ['a name that nobody defines', { name: 'nobody', input: {} }, 'UNKNOWN_PIPELINE'],
    ['an input that does not fit', { name: 'billing', input: { card: 1 } }, 'INVALID_INPUT'],
    ['steps in a circle', { name: 'circle', input: null }, 'PIPELINE_CYCLE'],
    ['a field too many', { name: 'billing', input: INPUT, queue: 'x' }, 'INVALID_REQUEST'],
  ])('with %s is refused, and nothing is stored', async (_case, body, code) => {
    const refused = await open().as()('POST /api/pipelines', body)

    expect(refused.body).toMatchObject({ status: 422, code })
    expect(await bench.look('select from holdfast.pipeline')).toEqual([])
    expect(await operations()).toEqual([])
  })

  test('that does not exist is not found', async () => {
    const ask = open().as()
    const nowhere = '/api/pipelines/0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a'

    for (const what of [`GET ${nowhere}`, `GET ${nowhere}/steps`, `POST ${nowhere}/cancel`, `POST ${nowhere}/retry`]) {
      expect((await ask(what, {})).body, what).toMatchObject({ status: 404, code: 'PIPELINE_NOT_FOUND' })
    }
  })

  test('is told in advance: which there are, and what they take', async () => {
    const { rows } = (await open().as({ permissions: ['view'] })('GET /api/pipeline-definitions')).body

    expect(rows.map(({ name }: { name: string }) => name)).toEqual(['announced', 'billing', 'circle'])
    expect(rows[1]).toMatchObject({ onFailure: 'stop', inputSchema: { type: 'object', required: ['card'] } })
  })
})

describe('a principal that sees some queues', () => {
  test('sees a pipeline whole or not at all, and does nothing to one that it does not see', async () => {
    const { holdfast, as } = open()
    const ask = as({ queues: ['billing'] })
    const own = await holdfast.enqueuePipeline(billing, INPUT)
    const mixed = await holdfast.enqueuePipeline(announced, undefined)

    expect((await ask('GET /api/pipelines')).body.rows).toMatchObject([{ id: own.id }])
    expect((await ask(`GET /api/pipelines/${own.id}`)).status).toBe(200)
    for (const what of [
      `GET /api/pipelines/${mixed.id}`,
      `GET /api/pipelines/${mixed.id}/steps`,
      `POST /api/pipelines/${mixed.id}/cancel`,
      `POST /api/pipelines/${mixed.id}/retry`,
      `GET /api/events?topic=pipeline:${mixed.id}`,
    ]) {
      expect((await ask(what, {})).body, what).toMatchObject({ status: 404, code: 'PIPELINE_NOT_FOUND' })
    }
    expect((await mixed.read()).state).toBe('running')
  })

  test('enqueues only into its queues', async () => {
    const ask = open().as({ queues: ['billing'] })

    expect((await ask('POST /api/pipelines', { name: 'billing', input: INPUT })).status).toBe(201)
    const refused = (await ask('POST /api/pipelines', { name: 'announced', input: null })).body
    expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(refused.detail).not.toContain('mail')
    expect(await bench.look('select from holdfast.pipeline')).toHaveLength(1)
  })

  test('is told why a job waits, but not of jobs that it does not see', async () => {
    const { holdfast, as } = open()
    const { id } = await holdfast.enqueuePipeline(announced, undefined)
    const [, waiting] = (await as()(`GET /api/pipelines/${id}`)).body.steps.rows

    const all = (await as()(`GET /api/jobs/${waiting.id}`)).body.explanation
    const some = (await as({ queues: ['mail'] })(`GET /api/jobs/${waiting.id}`)).body.explanation

    expect(all.reasons).toMatchObject([{ code: 'WAITING_FOR_JOBS', facts: { jobs: [{ type: 'book' }] } }])
    expect(some.reasons).toEqual([
      { code: 'WAITING_FOR_JOBS', text: 'it waits for other jobs of its pipeline', facts: {} },
    ])
    expect(some.text).not.toContain('book')
  })

  test('counts waiting jobs of its queues alone', async () => {
    const { holdfast, as } = open()
    await holdfast.enqueuePipeline(announced, undefined)
    await holdfast.enqueuePipeline(billing, INPUT)
    const filter = 'filter=state:waiting'

    for (const [queues, count] of [
      [undefined, 2],
      [['mail'], 1],
      [['default'], 0],
    ] as const) {
      const ask = as({ queues })
      expect((await ask('GET /api/live')).body.waiting.count).toBe(count)
      expect((await ask(`GET /api/jobs?${filter}`)).body.rows).toHaveLength(count)
      expect((await ask(`GET /api/job-count?${filter}`)).body.count).toBe(count)
    }
    expect((await as()('GET /api/queues/mail')).body).toMatchObject({ pending: { count: 0 }, waiting: { count: 1 } })
  })
})

describe('waiting jobs', () => {
  test('are cancelled in bulk', async () => {
    const { holdfast, as } = open()
    await holdfast.pause('billing')
    const { id } = await holdfast.enqueuePipeline(announced, undefined)

    const made = await as()('POST /api/bulk-operations', { operation: 'cancel', filter: 'state:waiting queue:mail' })
    expect(made.body).toMatchObject({ state: 'open', expected: { count: 1 } })
    await holdfast.start()
    await until(async () => (await holdfast.operator.bulk.find(made.body.id))?.state === 'completed')

    expect((await as()(`GET /api/pipelines/${id}`)).body.progress.waiting).toBe(0)
  })
})

describe('a job that remembers', () => {
  test('shows its steps and what it waits for; outputs only with view_input, redacted', async () => {
    const { holdfast, as } = open()
    const { id } = await holdfast.enqueue(remembering, {})
    await holdfast.start()
    await until(async () => (await holdfast.steps(id)).some(({ kind, isOver }) => kind === 'event' && !isOver))
    await holdfast.stop()

    const { steps, explanation } = (await as()(`GET /api/jobs/${id}`)).body
    expect(steps).toMatchObject([
      { kind: 'step', name: 'read', output: { card: { number: '[redacted]' }, rows: 3 }, isOver: true },
      { kind: 'event', event: 'approved', output: null, isOver: false },
    ])
    expect(explanation.reasons).toMatchObject([{ code: 'WAITING_FOR_EVENT', facts: { event: 'approved' } }, {}])
    const unseen = (await as({ permissions: ['view'] })(`GET /api/jobs/${id}`)).body.steps
    expect(unseen[0]).toMatchObject({ name: 'read', isOver: true })
    expect(unseen[0]).not.toHaveProperty('output')
  })

  test('tells a stream each step as it is remembered, without outputs', async () => {
    const { holdfast, stream } = open()
    const { id } = await holdfast.enqueue(remembering, {})
    const reader = readEvents((await stream(`topic=job:${id}`)).body)
    expect((await reader.next())?.data.job).toMatchObject({ state: 'pending', steps: [] })
    await holdfast.start()

    const last = await reader.until(({ data }) => data.job?.steps.length === 2)
    await reader.cut()

    expect(last.data.job.steps).toMatchObject([{ name: 'read' }, { event: 'approved', isOver: false }])
    expect(reader.raw).not.toContain('4111')
  })
})

describe('a stream about a pipeline', () => {
  test('tells its progress and its steps, and goes on from Last-Event-ID with what is new', async () => {
    const { holdfast, stream } = open()
    const { id } = await holdfast.enqueuePipeline(billing, INPUT)
    const reader = readEvents((await stream(`topic=pipeline:${id}`)).body)
    const first = await reader.next()
    expect(first).toMatchObject({ event: 'pipeline', data: { pipeline: { id, state: 'running' } } })
    expect(first?.data.pipeline.progress).toMatchObject({ pending: 1, waiting: 1 })

    await reader.cut()
    await holdfast.start()
    await holdfast.pipeline(id).result({ timeout: '60s' })
    await holdfast.stop()
    const later = readEvents((await stream(`topic=pipeline:${id}`, { 'last-event-id': first?.id ?? '' })).body)
    const last = await later.next()
    await later.cut()

    expect(last?.data.pipeline.state).toBe('completed')
    expect(last?.data.pipeline.steps).toMatchObject({
      rows: [
        { step: 'fetch', state: 'completed' },
        { step: 'book', state: 'completed' },
      ],
      isMore: false,
    })
    expect(reader.raw + later.raw).not.toContain('4111')
  })
})
