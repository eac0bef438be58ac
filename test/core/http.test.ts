// The HTTP API on both engines: what it shows, what it does, for whom, and what it leaves in the audit.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, defineSchedule } from '../../src/index.js'
import { heard, until, useHoldfast } from '../support/holdfast.js'
import { useDesk } from '../support/http.js'

const pay = defineJob({
  type: 'pay',
  queue: 'billing',
  redact: ['card.number'],
  key: (input: { customer?: string; card?: object; fail?: boolean }) => input.customer,
  run: (input) => {
    if (input.fail) throw new Error('the bank said no')
    return { card: { number: 4111 }, paid: true }
  },
})
const mail = defineJob({ type: 'mail', queue: 'mail', retry: { attempts: 1 }, run: () => 'sent' })
const nightly = defineSchedule({ jobKey: 'nightly', job: mail, cron: '0 2 * * *', input: { to: 'all' } })

const bench = useHoldfast()
const openDesk = useDesk()

function open() {
  const holdfast = bench.open({ jobs: [pay, mail], schedules: [nightly] })
  return { holdfast, ...openDesk(holdfast) }
}

async function audited(action: string) {
  return bench.look('select actor, job_id::text, details from holdfast.audit where action = $1 order by id', [action])
}

describe('a job over HTTP', () => {
  test('is enqueued, listed, shown and cancelled, each in the name of who asked', async () => {
    const ask = open().as({ name: 'ada' })

    const made = await ask('POST /api/jobs', { type: 'mail', input: { n: 1 }, tags: ['x'], priority: 2, delay: '1h' })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.headers.get('location')).toBe(`jobs/${id}`)
    const page = await ask(`GET /api/jobs?filter=${encodeURIComponent('state:pending queue:mail tag:x')}`)
    expect(page.body.rows).toMatchObject([{ id, type: 'mail', state: 'pending', priority: 2, tags: ['x'] }])
    expect((await ask('GET /api/job-count?filter=type:mail')).body).toEqual({ count: 1, isCapped: false })
    const cancelled = await ask(`POST /api/jobs/${id}/cancel`, { reason: 'not needed' })
    expect(cancelled.body).toEqual({ id, state: 'pending' })

    const { body } = await ask(`GET /api/jobs/${id}`)
    expect(body.job).toMatchObject({ id, state: 'cancelled', input: { n: 1 }, hidden: [] })
    expect(body.audit.map((entry: { actor: string; action: string }) => [entry.actor, entry.action])).toEqual([
      ['ada', 'cancel'],
      ['ada', 'enqueue'],
    ])
  })

  test('that failed is shown with its attempts and logs, and retried', async () => {
    const { holdfast, as } = open()
    const ask = as({ name: 'ada' })
    const failed = heard(holdfast, 'job.failed', ({ isFinal }) => isFinal)
    const { id } = await holdfast.enqueue(pay, { fail: true }, { maxAttempts: 1 })
    await holdfast.start()
    await failed
    await until(async () => (await ask(`GET /api/jobs/${id}`)).body.job.state === 'failed')
    await holdfast.stop()

    const { body } = await ask(`GET /api/jobs/${id}`)
    expect(body.attempts).toMatchObject([{ attempt: 1, verdict: 'failed', error: { message: 'the bank said no' } }])
    expect((await ask(`POST /api/jobs/${id}/retry`, {})).body).toEqual({ id, state: 'failed' })
    expect((await ask(`GET /api/jobs/${id}`)).body.job.state).toBe('pending')
    expect(await audited('retry')).toMatchObject([{ actor: 'ada', job_id: id }])
  })

  test('that is stuck is recovered once it is stale, and is refused before', async () => {
    const { as } = open()
    const ask = as({ name: 'ada', permissions: ['view', 'recover'] })
    const [job] = await bench.look(`select holdfast.enqueue('mail', '{}', '{"queue": "mail"}') as id`)
    await bench.look('select holdfast.claim_one($1, $2)', [job?.id, 'stuck/1'])

    expect((await ask(`POST /api/jobs/${job?.id}/recover`, {})).body).toMatchObject({ status: 409, code: 'NOT_STALE' })
    expect(await audited('recover')).toEqual([])
    await bench.look(`update holdfast.lease set locked_at = locked_at - interval '31 minutes'`)
    expect((await ask(`POST /api/jobs/${job?.id}/recover`, {})).status).toBe(200)

    expect((await ask(`GET /api/jobs/${job?.id}`)).body.job).toMatchObject({ state: 'pending', attempts: 0 })
    expect(await audited('recover')).toMatchObject([{ actor: 'ada', job_id: String(job?.id) }])
  })

  test('has its logs read page by page', async () => {
    const { as } = open()
    const [job] = await bench.look(`select holdfast.enqueue('mail', '{}', '{"queue": "mail"}') as id`)
    const lines = ['one', 'two', 'three'].map((message) => ({
      job_id: Number(job?.id),
      token: 1,
      at: '2026-01-01T00:00:00Z',
      level: 'info',
      message,
      fields: { n: 1 },
    }))
    await bench.look('select holdfast.append_logs_v1($1::text::jsonb)', [JSON.stringify(lines)])
    const ask = as()

    const first = (await ask(`GET /api/jobs/${job?.id}/logs?limit=2`)).body.rows
    const rest = (await ask(`GET /api/jobs/${job?.id}/logs?after=${first[1].id}`)).body.rows

    expect([...first, ...rest].map(({ message }: { message: string }) => message)).toEqual(['one', 'two', 'three'])
  })
})

describe('inputs and outputs', () => {
  test('are shown only with view_input, and redacted paths to nobody', async () => {
    const { holdfast, as } = open()
    const done = heard(holdfast, 'job.completed')
    const { id } = await holdfast.enqueue(pay, { customer: 'c1', card: { number: 4111, name: 'A' } })
    await holdfast.start()
    await done
    await until(async () => (await holdfast.find(id))?.state === 'completed')
    await holdfast.stop()

    const seen = (await as()(`GET /api/jobs/${id}`)).body.job
    expect(seen.input).toEqual({ customer: 'c1', card: { number: '[redacted]', name: 'A' } })
    expect(seen.output).toEqual({ card: { number: '[redacted]' }, paid: true })
    const unseen = (await as({ permissions: ['view'] })(`GET /api/jobs/${id}`)).body.job
    expect(unseen).not.toHaveProperty('input')
    expect(unseen).not.toHaveProperty('output')
    expect(unseen.hidden).toEqual(['input', 'output'])
  })

  test('are redacted by the mount beside what their definitions say', async () => {
    const holdfast = bench.open({ jobs: [pay, mail] })
    const { as } = openDesk(holdfast, { redact: { '*': ['password'], pay: ['customer'] } })
    const { id } = await holdfast.enqueue(pay, { customer: 'c1', card: { number: 1 } })
    const other = await holdfast.enqueue(mail, { password: 'p', customer: 'c1' })

    expect((await as()(`GET /api/jobs/${id}`)).body.job.input).toEqual({
      customer: '[redacted]',
      card: { number: '[redacted]' },
    })
    expect((await as()(`GET /api/jobs/${other.id}`)).body.job.input).toEqual({ password: '[redacted]', customer: 'c1' })
  })

  test('cannot be guessed by filters', async () => {
    const { holdfast, as } = open()
    await holdfast.enqueue(pay, { customer: 'c1', card: { number: 4111, name: 'A' } })
    const filtered = (filter: string) => `GET /api/jobs?filter=${encodeURIComponent(filter)}`
    const viewer = as({ permissions: ['view'] })

    expect((await viewer(filtered('input.customer=c1'))).body).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect((await as()(filtered('input.customer=c1'))).body.rows).toHaveLength(1)
    for (const filter of [
      'input.card.number=4111',
      'type:pay input.card.number=4111',
      'type:pay,mail input.card=4111',
    ]) {
      expect((await as()(filtered(filter))).body, filter).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    }
    expect((await as()(filtered('type:mail input.card.number=4111'))).status).toBe(200)
    const bulk = { operation: 'cancel', filter: 'state:pending input.card.number=4111' }
    expect((await as()('POST /api/bulk-operations', bulk)).body.code).toBe('FORBIDDEN')
  })

  test('that were searched for, or set for a schedule, are not told by bulk operations and the audit', async () => {
    const { as } = open()
    await as()('POST /api/bulk-operations', { operation: 'cancel', filter: 'state:pending input.customer=c1' })
    await as()('POST /api/schedules', { jobKey: 's', job: 'mail', every: '1h', input: { secret: 'hunter2' } })
    const viewer = as({ permissions: ['view'] })

    for (const what of ['GET /api/bulk-operations', 'GET /api/audit', 'GET /api/schedules']) {
      const [seen, unseen] = [await as()(what), await viewer(what)].map(({ body }) => JSON.stringify(body))
      expect(seen, what).toMatch(/"c1"|hunter2/)
      expect(unseen, what).not.toMatch(/"c1"|hunter2/)
    }
  })

  test('of schedules are held back in the same way', async () => {
    const { holdfast, as } = open()
    await holdfast.start()
    await holdfast.stop()

    expect((await as()('GET /api/schedules/nightly')).body).toMatchObject({ input: { to: 'all' }, hidden: [] })
    const unseen = (await as({ permissions: ['view'] })('GET /api/schedules/nightly')).body
    expect(JSON.stringify(unseen)).not.toContain('"to"')
    expect(unseen.hidden).toEqual(['input'])
  })
})

describe('a principal that sees some queues', () => {
  test('finds nothing of the others, by whatever way it asks', async () => {
    const { holdfast, as } = open()
    const ask = as({ name: 'biller', queues: ['billing'] })
    const { id: hidden } = await holdfast.enqueue(mail, {}, { pipelineId: '0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a' })
    const { id: shown } = await holdfast.enqueue(pay, { customer: 'c1' })
    await holdfast.start()
    await holdfast.stop()

    expect((await ask('GET /api/jobs')).body.rows.map(({ id }: { id: string }) => id)).toEqual([shown])
    expect((await ask('GET /api/jobs?filter=queue:mail')).body.rows).toEqual([])
    expect((await ask('GET /api/job-count?filter=queue:mail')).body.count).toBe(0)
    expect((await ask('GET /api/queues')).body.rows.map(({ name }: { name: string }) => name)).toEqual(['billing'])
    expect((await ask('GET /api/types')).body.rows.map(({ type }: { type: string }) => type)).toEqual(['pay'])
    expect((await ask('GET /api/schedules')).body.rows).toEqual([])
    for (const what of [
      `GET /api/jobs/${hidden}`,
      `GET /api/jobs/${hidden}/logs`,
      'GET /api/queues/mail',
      'GET /api/schedules/nightly',
      'GET /api/schedules/nightly/ticks',
      'GET /api/pipelines/0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a',
      'GET /api/stats?queue=mail',
      `GET /api/events?topic=job:${hidden}`,
      'GET /api/events?topic=queue:mail',
      'GET /api/events?topic=pipeline:0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a',
    ]) {
      expect((await ask(what)).status, what).toBe(404)
    }
    expect((await ask('GET /api/audit')).status).toBe(403)
  })

  test('does nothing to the others', async () => {
    const { holdfast, as } = open()
    const ask = as({ name: 'biller', queues: ['billing'] })
    const { id } = await holdfast.enqueue(mail, {}, { delay: '1h' })

    for (const [what, body] of [
      [`POST /api/jobs/${id}/cancel`, {}],
      [`POST /api/jobs/${id}/retry`, {}],
      [`POST /api/jobs/${id}/recover`, {}],
      ['POST /api/jobs', { type: 'mail', input: {} }],
      ['POST /api/jobs', { type: 'pay', input: {}, queue: 'mail' }],
      ['POST /api/queues/mail/pause', {}],
      ['POST /api/queues/mail/resume', {}],
      ['POST /api/schedules', { jobKey: 'a', job: 'mail', every: '1h', input: {} }],
      ['POST /api/schedules/nightly/trigger', {}],
      ['DELETE /api/schedules/nightly'],
    ] as const) {
      expect((await ask(what, body)).status, what).toBe(404)
    }
    const bulk = { operation: 'cancel', filter: 'state:pending queue:mail' }
    expect((await ask('POST /api/bulk-operations', bulk)).status).toBe(422)
    const { body } = await ask('POST /api/bulk-operations', { operation: 'cancel', filter: 'state:pending' })
    expect(body.filter.queues).toEqual(['billing'])

    expect((await holdfast.find(id))?.state).toBe('pending')
    expect(
      (await bench.look('select actor from holdfast.audit')).filter(({ actor }) => actor === 'biller'),
    ).toHaveLength(1)
  })
})

describe('queues, keys and pipelines over HTTP', () => {
  test('a queue is paused and resumed by name, whatever the name is', async () => {
    const { holdfast, as } = open()
    const ask = as({ name: 'ada' })

    for (const name of ['a/b', 'a.b', '100%', 'a%2Fb', 'ä ö?#', '"quoted"', "it's", '..a', 'stats']) {
      await holdfast.enqueue(mail, {}, { queue: name })
      const path = `/api/queues/${encodeURIComponent(name)}`
      expect((await ask(`POST ${path}/pause`, {})).body).toEqual({ isChanged: true })
      expect((await ask(`POST ${path}/pause`, {})).body).toEqual({ isChanged: false })
      expect((await ask(`GET ${path}`)).body).toMatchObject({ name, pausedBy: 'ada', pending: { count: 1 } })
      expect((await ask(`POST ${path}/resume`, {})).body).toEqual({ isChanged: true })
    }
  })

  test('a key is shown with its holder and its jobs', async () => {
    const { holdfast, as } = open()
    const ask = as()
    const first = await holdfast.enqueue(pay, { customer: 'a/b' })
    const second = await holdfast.enqueue(pay, { customer: 'a/b' })
    await bench.look('select holdfast.claim_one($1, $2)', [first.id, 'pod/1'])

    const { body } = await ask(`GET /api/keys?key=${encodeURIComponent('a/b')}`)

    expect(body).toMatchObject({ key: 'a/b', holder: first.id, current: first.id, pending: { count: 1 } })
    expect(body.history.rows.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
    expect((await ask('GET /api/keys?key=nobody')).status).toBe(404)
    expect((await as({ queues: ['mail'] })('GET /api/keys?key=a%2Fb')).status).toBe(404)
  })

  test('a pipeline shows its jobs', async () => {
    const { holdfast, as } = open()
    const pipelineId = '0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a'
    const { id } = await holdfast.enqueue(mail, {}, { pipelineId })

    const { body } = await as()(`GET /api/pipelines/${pipelineId}`)
    expect(body.pipeline).toMatchObject({ id: pipelineId, name: null, state: 'running', queues: ['mail'] })
    expect(body.steps.rows).toMatchObject([{ id, pipelineId, step: null, dependsOn: [] }])
    expect((await as()('GET /api/pipelines/7')).status).toBe(400)
  })

  test('the types that this program defines are told, with the schema of their input', async () => {
    const typed = defineJob({ type: 'typed', input: z.object({ year: z.number().default(2026) }), redact: ['year'] })
    const { as } = openDesk(bench.open({ jobs: [typed, mail] }))

    const { rows } = (await as({ permissions: ['view'] })('GET /api/types')).body

    expect(rows).toMatchObject([
      { type: 'mail', queue: 'mail', maxAttempts: 1, inputSchema: null },
      { type: 'typed', queue: 'default', inputSchema: { type: 'object', properties: { year: { type: 'number' } } } },
    ])
  })

  test('workers, statistics and who is asking are told', async () => {
    const { holdfast, as } = open()
    await holdfast.start()
    const ask = as({ name: 'ada', permissions: ['view'] })

    expect((await ask('GET /api/workers')).body.rows).toMatchObject([{ queues: expect.arrayContaining(['mail']) }])
    expect((await ask('GET /api/live')).body).toMatchObject({ workers: 1, pending: { count: 0 } })
    expect((await as({ queues: ['mail'] })('GET /api/live')).body).toMatchObject({ workers: 1 })
    expect((await ask('GET /api/stats?since=2h&step=5m&queue=mail')).body.stepMs).toBe(300_000)
    expect((await ask('GET /api/audit')).status).toBe(200)
    expect((await ask('GET /api/me')).body).toEqual({ name: 'ada', permissions: ['view'], queues: null })
  })
})

describe('schedules over HTTP', () => {
  test('are made, changed, switched, fired and deleted in the name of who asked', async () => {
    const ask = open().as({ name: 'ada' })
    const path = '/api/schedules/hourly%2Freport'

    const made = { jobKey: 'hourly/report', job: 'mail', cron: '0 * * * *', timezone: 'Europe/Berlin', input: { a: 1 } }
    expect((await ask('POST /api/schedules', made)).status).toBe(201)
    expect((await ask(`PATCH ${path}`, { cron: '30 * * * *', missed: 'skip', priority: 1 })).body).toMatchObject({
      cron: '30 * * * *',
      missed: 'skip',
      options: { priority: 1 },
    })
    expect((await ask(`POST ${path}/disable`, {})).body).toEqual({ isChanged: true })
    expect((await ask(`POST ${path}/enable`, {})).body).toEqual({ isChanged: true })
    const fired = await ask(`POST ${path}/trigger`, { input: { a: 2 } })
    expect(fired.status).toBe(201)
    const span = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T02:00:00Z' }
    expect((await ask(`POST ${path}/backfill`, span)).body.rows).toHaveLength(2)
    const past = await ask(`GET ${path}/ticks?before=2026-01-02T00:00:00Z`)
    expect(past.body.rows.map(({ tick }: { tick: string }) => tick)).toEqual([
      '2026-01-01T01:30:00.000Z',
      '2026-01-01T00:30:00.000Z',
    ])
    const next = await ask(`GET ${path}/next-ticks?after=2026-01-01T00:00:00Z&limit=2`)
    expect(next.body.ticks).toEqual(['2026-01-01T00:30:00.000Z', '2026-01-01T01:30:00.000Z'])
    expect((await ask('GET /api/schedules')).body.rows).toHaveLength(1)
    expect((await ask(`DELETE ${path}`)).body).toEqual({ isChanged: true })
    expect((await ask(`GET ${path}`)).status).toBe(404)

    const actors = await bench.look(`select distinct actor from holdfast.audit where action like '%schedule%'`)
    expect(actors).toEqual([{ actor: 'ada' }])
  })

  test('that make no sense are refused', async () => {
    const ask = open().as()

    for (const wrong of [
      { cron: '* * *' },
      { cron: '0 0 31 2 *', every: '1h' },
      { every: '1ms' },
      { cron: '0 * * * *', timezone: 'Mars/Olympus' },
      {},
    ]) {
      const { status } = await ask('POST /api/schedules', { jobKey: 'a', job: 'mail', input: {}, ...wrong })
      expect([400, 422], JSON.stringify(wrong)).toContain(status)
    }
  })
})

describe('a bulk operation over HTTP', () => {
  test('is asked for, watched until it is done, and stands in the audit', async () => {
    const { holdfast, as } = open()
    const ask = as({ name: 'ada' })
    await holdfast.enqueueMany(
      mail,
      Array.from({ length: 7 }, () => ({})),
      { delay: '1h', tags: ['old'] },
    )
    await holdfast.enqueue(mail, {}, { delay: '1h' })

    const asked = await ask('POST /api/bulk-operations', {
      operation: 'cancel',
      filter: 'state:pending tag:old',
      reason: 'r',
    })
    expect(asked.status).toBe(202)
    expect(asked.body).toMatchObject({ askedBy: 'ada', expected: { count: 7, isCapped: false } })
    await holdfast.start()
    const path = `/api/bulk-operations/${asked.body.id}`
    await until(async () => (await holdfast.operator.bulk.find(asked.body.id))?.state === 'completed')

    expect((await ask(`GET ${path}`)).body).toMatchObject({ done: 7, skipped: 0, failed: 0 })
    expect((await ask('GET /api/bulk-operations')).body.rows).toHaveLength(1)
    expect((await ask('GET /api/job-count?filter=state:cancelled')).body.count).toBe(7)
    expect((await ask(`POST ${path}/cancel`, {})).body).toEqual({ isChanged: false })
  })

  test('needs the permission of its operation, to start it and to stop it', async () => {
    const { as } = open()
    const request = { operation: 'cancel', filter: 'state:pending' }

    expect((await as({ permissions: ['view', 'retry'] })('POST /api/bulk-operations', request)).status).toBe(403)
    const { id } = (await as()('POST /api/bulk-operations', request)).body
    const stop = `POST /api/bulk-operations/${id}/cancel`
    expect((await as({ permissions: ['view', 'retry'] })(stop, {})).status).toBe(403)
    expect((await as({ permissions: ['view', 'cancel'] })(stop, {})).body).toEqual({ isChanged: true })
  })
})
