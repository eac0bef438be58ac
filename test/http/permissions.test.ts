// Who may do what: each permission alone against each address of the contract. The table is the page in the docs.
import { afterEach, describe, expect, test } from 'vitest'
import { PERMISSIONS, type Permission } from '../../src/http/principal.js'
import { defineJob, definePipeline } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'
import { useDesk } from '../support/http.js'

const mail = defineJob({ type: 'mail', queue: 'mail' })
const mailing = definePipeline({ name: 'mailing', build: (p) => p.job(mail, {}) })
const bench = useHoldfast()
const openDesk = useDesk()

const PIPELINE = '0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a'

/** Bodies that would be accepted; `:id` stands for a job, `:stopped` for a cancelled pipeline, `:bulk` for a bulk operation that cancels. */
const ACTIONS: readonly (readonly [what: string, body?: object])[] = [
  ['GET /api/jobs'],
  ['GET /api/job-count'],
  ['GET /api/jobs?filter=input.a=1'],
  ['POST /api/jobs', { type: 'mail', input: {} }],
  ['GET /api/jobs/:id'],
  ['GET /api/jobs/:id/logs'],
  ['POST /api/jobs/:id/cancel', {}],
  ['POST /api/jobs/:id/retry', {}],
  ['POST /api/jobs/:id/recover', {}],
  ['GET /api/types'],
  ['GET /api/queues'],
  ['GET /api/queues/mail'],
  ['POST /api/queues/mail/pause', {}],
  ['POST /api/queues/mail/resume', {}],
  ['GET /api/workers'],
  ['GET /api/keys?key=k'],
  ['GET /api/pipelines'],
  ['POST /api/pipelines', { name: 'mailing', input: {} }],
  [`GET /api/pipelines/${PIPELINE}`],
  [`GET /api/pipelines/${PIPELINE}/steps`],
  [`POST /api/pipelines/${PIPELINE}/cancel`, {}],
  ['POST /api/pipelines/:stopped/retry', {}],
  ['GET /api/pipeline-definitions'],
  ['GET /api/schedules'],
  ['POST /api/schedules', { jobKey: 'new', job: 'mail', every: '1h' }],
  ['GET /api/schedules/hourly'],
  ['GET /api/schedules/hourly/ticks'],
  ['GET /api/schedules/hourly/next-ticks'],
  ['PATCH /api/schedules/hourly', { missed: 'all' }],
  ['POST /api/schedules/hourly/disable', {}],
  ['POST /api/schedules/hourly/enable', {}],
  ['POST /api/schedules/hourly/trigger', {}],
  ['POST /api/schedules/hourly/skip', {}],
  ['POST /api/schedules/hourly/backfill', { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' }],
  ['DELETE /api/schedules/hourly'],
  ['GET /api/bulk-operations'],
  ['GET /api/bulk-operations/:bulk'],
  ['POST /api/bulk-operations', { operation: 'retry', filter: 'state:failed' }],
  ['POST /api/bulk-operations', { operation: 'cancel', filter: 'state:pending' }],
  ['POST /api/bulk-operations/:bulk/cancel', {}],
  ['GET /api/live'],
  ['GET /api/stats'],
  ['GET /api/audit'],
  ['GET /api/events?topic=stats'],
  ['GET /api/me'],
  ['GET /openapi.json'],
]

describe('permissions', () => {
  const limits = { requests: { perSecond: 10_000, burst: 10_000 }, refusals: { perSecond: 10_000, burst: 10_000 } }

  async function open() {
    // On connections that stay from one opening to the next: a new one has to learn every function again.
    const holdfast = bench.open({ database: bench.database.pool, jobs: [mail], pipelines: [mailing] })
    const { as, asNobody, api } = openDesk(holdfast, { limits })
    const { id } = await holdfast.enqueue(mail, {}, { key: 'k', pipelineId: PIPELINE })
    await holdfast.schedules.create({ jobKey: 'hourly', job: 'mail', every: '1h' })
    const bulk = await holdfast.operator.bulk.start({ operation: 'cancel', filter: 'state:pending tag:none' })
    const stopped = await holdfast.enqueuePipeline(mailing, {})
    await stopped.cancel()
    const filled = (what: string) => what.replace(':id', id).replace(':bulk', bulk.id).replace(':stopped', stopped.id)
    return { as, asNobody, api, filled }
  }

  const streams: Response[] = []
  afterEach(async () => {
    for (const { body } of streams.splice(0)) await body?.cancel()
  })

  /** Streams have no end to wait for. */
  async function status(
    desk: Awaited<ReturnType<typeof open>>,
    what: string,
    body: unknown,
    permissions: Permission[],
  ) {
    const ask = desk.as({ permissions })
    if (!what.includes('/events')) return (await ask(desk.filled(what), body)).status
    const principal = encodeURIComponent(JSON.stringify({ name: 'a', permissions }))
    const request = new Request(`http://jobs.test${what.slice(4)}`, { headers: { 'x-principal': principal } })
    const response = await desk.api.fetch(request)
    streams.push(response)
    return response.status
  }

  test('decide about every address as the reference says', async () => {
    const rows: string[] = []
    for (const [what, body] of ACTIONS) {
      const desk = await open()
      const verdicts: string[] = []
      for (const permission of PERMISSIONS) {
        const passes = async (...held: Permission[]) => (await status(desk, what, body, held)) !== 403
        if (await passes(permission)) verdicts.push('yes')
        else verdicts.push(!(await passes('view')) && (await passes('view', permission)) ? 'with `view`' : '–')
      }
      // What is let through may still be refused by the state of things, never for want of a permission.
      expect(await status(desk, what, body, [...PERMISSIONS]), what).not.toBe(403)
      rows.push(`| \`${what}\`${operationOf(body)} | ${verdicts.join(' | ')} |`)
      await bench.closeAll()
      await bench.look('delete from holdfast.schedule')
    }

    await expect(page(rows)).toMatchFileSnapshot('../../docs/reference/permissions.md')
  })

  test('are of no use to nobody, and none of them is needed to learn who one is', async () => {
    const desk = await open()

    for (const [what, body] of ACTIONS) expect((await desk.asNobody(desk.filled(what), body)).status, what).toBe(401)
    expect((await desk.as({ permissions: [] })('GET /api/me')).status).toBe(200)
  })

  test('leave a trace of every operation, in the name of who did it, and of nothing that was refused', async () => {
    const desk = await open()
    const operations = ACTIONS.filter(([what]) => !what.startsWith('GET'))

    for (const [what, body] of operations) await status(desk, what, body, ['view'])
    expect(await bench.look(`select action from holdfast.audit where actor = 'operator'`)).toEqual([])
    for (const [what, body] of operations) await status(desk, what, body, [...PERMISSIONS])

    const done = await bench.look(`select distinct action from holdfast.audit where actor = 'operator' order by action`)
    expect(done.map(({ action }) => action)).toMatchInlineSnapshot(`
      [
        "backfill_schedule",
        "cancel",
        "cancel_bulk",
        "cancel_pipeline",
        "create_schedule",
        "delete_schedule",
        "disable_schedule",
        "enable_schedule",
        "enqueue",
        "enqueue_pipeline",
        "pause",
        "resume",
        "retry",
        "retry_pipeline",
        "start_bulk",
        "trigger_schedule",
        "update_schedule",
      ]
    `)
  })
})

function operationOf(body: object | undefined): string {
  return body && 'operation' in body ? ` (${(body as { operation: string }).operation})` : ''
}

function page(rows: readonly string[]): string {
  return [
    '# Permissions',
    '',
    'What a principal may do with each permission alone, or together with `view`. "yes" means that the request reaches the job,',
    'queue or schedule that it names, whose state may still refuse it. Everything else is 403. Without a principal every answer is',
    '401; outside the queues of a principal it is 404. Stopping a bulk operation needs the permission of its operation, here',
    '`cancel`. `test/http/permissions.test.ts` writes this page.',
    '',
    `| request | ${PERMISSIONS.map((permission) => `\`${permission}\``).join(' | ')} |`,
    `| --- |${PERMISSIONS.map(() => ' --- |').join('')}`,
    ...rows,
    '',
  ].join('\n')
}
