// Hostile strings: stored and returned as data wherever they fit, refused with a 4xx where they do not. Nothing that a request
// holds leads to a 500.
import { describe, expect, test } from 'vitest'
import { defineJob, definePipeline } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'
import { useDesk } from '../support/http.js'

const mail = defineJob({ type: 'mail', queue: 'mail' })
const mailing = definePipeline({ name: 'mailing', build: (p, input) => p.job(mail, input) })
const bench = useHoldfast()
const openDesk = useDesk()

const HOSTILE = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `javascript:alert(1)`,
  `{{constructor.constructor('alert(1)')()}}`,
  `'; drop table holdfast.job; --`,
  `' or '1'='1`,
  `$$; select pg_sleep(10); $$`,
  `%' and 1=cast((select version()) as int) and '%'='`,
  `a\\'; select 1; --`,
  `x\r\nset-cookie: a=b`,
  `x\u0000y`,
  `\ud800`,
  `../../etc/passwd`,
  `..%2f..%2f`,
  `%s%n%x`,
  `%`,
  `__proto__`,
  `constructor`,
  `\u202etxt.exe`,
  `\u2028line`,
  `😀`.repeat(30),
  `"state:failed" input.a=`,
  'a'.repeat(5000),
]

describe('a hostile text', () => {
  const limits = { requests: { perSecond: 10_000, burst: 10_000 } }
  const open = () => {
    // On connections that stay from one opening to the next: a new one has to learn every function again.
    const holdfast = bench.open({ database: bench.database.pool, jobs: [mail], pipelines: [mailing] })
    return { holdfast, ...openDesk(holdfast, { limits }) }
  }

  test.each(HOSTILE.map((text) => [JSON.stringify(text).slice(0, 40), text]))(
    'in every field of a job comes back as it was, or is refused: %s',
    async (_shown, text) => {
      const ask = open().as()
      const fields = {
        input: { [text]: text, list: [text] },
        queue: text,
        key: text,
        tags: [text],
        dedupeId: text,
        keyPolicy: text,
        pipelineId: text,
        runAt: text,
        delay: text,
        type: text,
      }

      for (const [name, value] of Object.entries(fields)) {
        const made = await ask('POST /api/jobs', { type: 'mail', input: {}, [name]: value })
        expect(made.status, name).toBeLessThan(500)
        if (made.status !== 201) continue
        const { body, headers } = await ask(`GET /api/jobs/${made.body.id}`)
        const shown = name === 'key' ? [body.job.key] : [body.job[name]]
        expect(shown, name).toEqual([value])
        expect(headers.get('set-cookie')).toBeNull()
        const cancelled = await ask(`POST /api/jobs/${made.body.id}/cancel`, { reason: text })
        expect(cancelled.status).toBeLessThan(500)
      }
      expect(
        await bench.look('select 1 from pg_tables where schemaname = $1 and tablename = $2', ['holdfast', 'job']),
      ).toHaveLength(1)
    },
  )

  test.each(HOSTILE.map((text) => [JSON.stringify(text).slice(0, 40), text]))(
    'in every parameter is data or is refused: %s',
    async (_shown, text) => {
      const { as, stream } = open()
      const ask = as()
      const value = encodeURIComponent(text.replace('\ud800', '\ufffd'))
      const quoted = encodeURIComponent(JSON.stringify(text).replace('\\ud800', '\\\\ud800'))

      const answers = await Promise.all(
        [
          `GET /api/jobs?filter=${value}`,
          ...['state', 'type', 'queue', 'id', 'key', 'tag', 'pipeline', 'worker', 'error', 'since', 'until'].map(
            (name) => `GET /api/jobs?filter=${name}:${quoted}`,
          ),
          `GET /api/jobs?filter=input.a=${quoted}`,
          `GET /api/jobs?filter=input.${quoted}=1`,
          `GET /api/job-count?filter=${value}`,
          `GET /api/jobs?after=${value}`,
          `GET /api/jobs?limit=${value}`,
          `GET /api/jobs/${value}`,
          `GET /api/jobs/1/logs?after=${value}`,
          `GET /api/queues/${value}`,
          `GET /api/queues?after=${value}`,
          `GET /api/workers?after=${value}`,
          `GET /api/keys?key=${value}`,
          `GET /api/pipelines/${value}`,
          `GET /api/pipelines/${value}/steps?after=${value}`,
          `GET /api/pipelines?after=${value}`,
          `GET /api/schedules/${value}`,
          `GET /api/schedules/${value}/ticks?before=${value}`,
          `GET /api/schedules?after=${value}`,
          `GET /api/stats?since=${value}&queue=${value}&type=${value}`,
          `GET /api/stats?step=${value}`,
          `GET /api/audit?actor=${value}&action=${value}`,
          `GET /api/audit?after=${value}`,
          `GET /api/bulk-operations/${value}`,
          `GET /api/bulk-operations?after=${value}`,
          `GET /api/events?topic=${value}`,
          `GET /${value}`,
        ].map(async (what) => ({ what, ...(await ask(what)) })),
      )

      for (const { what, status, headers } of answers) {
        expect(status, what).toBeLessThan(500)
        expect(headers.get('set-cookie')).toBeNull()
      }
      const live = await stream(`topic=stats&topic=queue:mail&lastEventId=${value}`)
      expect(live.status).toBe(text.includes('\u0000') ? 422 : 200)
      await live.body?.cancel()
    },
  )

  test.each(HOSTILE.map((text) => [JSON.stringify(text).slice(0, 40), text]))(
    'in schedules, queues and bulk operations is data or is refused: %s',
    async (_shown, text) => {
      const ask = open().as()
      const value = encodeURIComponent(text.replace('\ud800', '\ufffd'))

      const answers = [
        await ask('POST /api/schedules', { jobKey: text, job: 'mail', every: '1h', input: { a: text } }),
        await ask('POST /api/schedules', { jobKey: 'a', job: text, every: '1h' }),
        await ask('POST /api/schedules', { jobKey: 'b', job: 'mail', cron: text, timezone: text }),
        await ask('POST /api/schedules', { jobKey: 'c', job: 'mail', every: '1h', tags: [text], queue: text }),
        await ask(`POST /api/queues/${value}/pause`, {}),
        await ask('POST /api/bulk-operations', { operation: 'cancel', filter: `state:pending ${text}`, reason: text }),
        await ask('POST /api/bulk-operations', { operation: 'cancel', filter: 'state:pending', reason: text }),
        await ask('POST /api/jobs', { type: 'mail', input: {}, [text]: text }),
        await ask('POST /api/jobs', text),
        await ask('POST /api/pipelines', { name: text, input: { a: text } }),
        await ask('POST /api/pipelines', { name: 'mailing', input: { [text]: text } }),
        await ask(`POST /api/pipelines/${value}/cancel`, { reason: text }),
        await ask(`POST /api/pipelines/${value}/retry`, {}),
      ]

      for (const { status, body } of answers) expect(status, JSON.stringify(body)).toBeLessThan(500)
      const made = (await ask('GET /api/schedules')).body.rows.map(({ jobKey }: { jobKey: string }) => jobKey)
      if (answers[0]?.status === 201) expect(made).toContain(text)
    },
  )

  test('as a principal’s name is written into the audit as it is, or refused as a fault of the auth hook', async () => {
    const { as } = open()
    const isFault = (name: string) => name.length > 200 || /\p{Cc}|\p{Surrogate}/u.test(name)

    for (const name of HOSTILE) {
      const { status, body } = await as({ name })('POST /api/jobs', { type: 'mail', input: {} })
      expect([status, body.code], name).toEqual(isFault(name) ? [500, 'UNEXPECTED'] : [201, undefined])
    }

    const actors = await bench.look('select distinct actor from holdfast.audit')
    expect(actors.map(({ actor }) => actor).sort()).toEqual(HOSTILE.filter((name) => !isFault(name)).sort())
    expect(HOSTILE.filter(isFault)).toHaveLength(4)
  })

  test('is not made a property of anything', async () => {
    const { as } = open()
    const made = await as()('POST /api/jobs', '{"type":"mail","input":{"__proto__":{"isAdmin":true}}}')

    const { body } = await as()(`GET /api/jobs/${made.body.id}`)

    expect(Object.keys(body.job.input)).toEqual(['__proto__'])
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })
})
