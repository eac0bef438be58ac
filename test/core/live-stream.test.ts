// Live streams on both engines: what a reader sees, and that a reader who is cut off misses nothing and hears nothing twice.
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { type EventReader, type LiveEvent, readEvents } from '../support/event-reader.js'
import { gate } from '../support/gate.js'
import { useHoldfast } from '../support/holdfast.js'
import { useDesk } from '../support/http.js'

const bench = useHoldfast()
const openDesk = useDesk()
const mail = defineJob({ type: 'mail', queue: 'mail' })

describe('a live stream', () => {
  test('of a job tells its state, progress, message and logs while it runs', async () => {
    const told = gate()
    const import_ = defineJob({
      type: 'import',
      async run(_input, ctx) {
        ctx.log.info({ row: 1 }, 'reading')
        await ctx.progress(0.5, 'half way')
        await told.opened
      },
    })
    const holdfast = bench.open({ jobs: [import_] })
    const { id } = await holdfast.enqueue(import_, {})
    const reader = readEvents((await openDesk(holdfast).stream(`topic=job:${id}`)).body)

    expect((await reader.next())?.data).toMatchObject({ topic: `job:${id}`, job: { id, state: 'pending' } })
    await holdfast.start()
    const half = await reader.until(({ data }) => data.job?.progress === 0.5)
    expect(half).toMatchObject({ event: 'job', data: { job: { state: 'running', statusMessage: 'half way' } } })
    const logged = half.data.logs ? half : await reader.until(({ data }) => data.logs !== undefined)
    expect(logged.data.logs).toMatchObject([{ level: 'info', message: 'reading', fields: { row: 1 } }])
    told.open()
    await reader.until(({ data }) => data.job?.state === 'completed')
    await reader.cut()
  })

  test('never holds an input or an output', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, { secret: 'hunter2' }, { pipelineId: PIPELINE })
    const topics = `topic=job:${id}&topic=pipeline:${PIPELINE}&topic=queue:mail&topic=stats`
    const reader = readEvents((await openDesk(holdfast).stream(topics)).body)
    const kinds = new Set<string>()

    while (kinds.size < 4) kinds.add((await reader.next())?.event ?? '')
    await reader.cut()

    expect([...kinds].sort()).toEqual(['job', 'pipeline', 'queue', 'stats'])
    expect(reader.raw).not.toContain('hunter2')
  })

  test('of sums tells what changed, and only that', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const reader = readEvents((await openDesk(holdfast).stream('topic=stats&topic=queue:mail')).body)
    await reader.until(({ event }) => event === 'stats')

    const { id } = await holdfast.enqueue(mail, {})

    await reader.until(({ data }) => data.queue?.pending.count === 1)
    await holdfast.cancel(id)
    await reader.until(({ data }) => 'queue' in data && (data.queue?.pending.count ?? 0) === 0)
    await reader.cut()
  })

  test('tells that a job is gone', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, {})
    await holdfast.cancel(id)
    const reader = readEvents((await openDesk(holdfast).stream(`topic=job:${id}`)).body)
    await reader.next()

    await bench.look('delete from holdfast.outcome where job_id = $1', [id])
    await bench.look('delete from holdfast.job where id = $1', [id])

    expect((await reader.next())?.data).toEqual({ topic: `job:${id}`, job: null })
    await reader.cut()
  })

  test('goes on after a cut where its reader was: nothing is said again, what came meanwhile is', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, {}, { delay: '1h' })
    const { stream } = openDesk(holdfast)
    await appendLines(id, ['one', 'two'])
    const first = readEvents((await stream(`topic=job:${id}`)).body)
    const seen = await first.until(({ data }) => data.logs?.length === 2)
    await first.cut()
    await appendLines(id, ['three'])

    const second = readEvents((await stream(`topic=job:${id}`, { 'last-event-id': seen.id })).body)
    const next = await second.next()
    await second.cut()
    const third = readEvents((await stream(`topic=job:${id}&lastEventId=${encodeURIComponent(next?.id ?? '')}`)).body)
    await holdfast.cancel(id)
    const last = await third.next()
    await third.cut()

    expect(next?.data).toMatchObject({ logs: [{ message: 'three' }] })
    expect(next?.data).not.toHaveProperty('job')
    expect(last?.data).toMatchObject({ job: { state: 'cancelled' } })
    expect(last?.data).not.toHaveProperty('logs')
  })

  test('cut and resumed a hundred times during a job with a thousand steps and lines loses and repeats nothing', async () => {
    const steps = 1000
    const pace = pacer()
    const import_ = defineJob({
      type: 'import',
      async run(_input, ctx) {
        for (let step = 1; step <= steps; step += 1) {
          ctx.log.info({ step }, `row ${step}`)
          await ctx.progress(step / steps, `row ${step} of ${steps}`)
          // Ten steps for each time that the reader was cut, so that every cut falls into the run.
          if (step % 10 === 0) await pace.step()
        }
      },
    })
    const holdfast = bench.open({ jobs: [import_] })
    const { stream } = openDesk(holdfast, { limits: { requests: { perSecond: 1000, burst: 1000 } } })
    const { id } = await holdfast.enqueue(import_, {})
    await holdfast.start()
    const read: LiveEvent[] = []
    let lastId = ''

    for (let cuts = 0; cuts < 100; cuts += 1) {
      const reader = readEvents((await stream(`topic=job:${id}`, { 'last-event-id': lastId })).body)
      pace.allow()
      lastId = keep(read, await reader.next()).id
      await reader.cut()
    }
    pace.allowAll()
    const rest = readEvents((await stream(`topic=job:${id}`, { 'last-event-id': lastId })).body)
    await readToTheEnd(rest, read, steps)
    await rest.cut()

    const lines = read.flatMap(({ data }) => data.logs ?? []).map(({ fields }) => fields.step)
    expect(lines).toEqual(Array.from({ length: steps }, (_, i) => i + 1))
    const progress = read.flatMap(({ data }) => data.job?.progress ?? [])
    expect(progress.length).toBeGreaterThan(10)
    expect(progress).toEqual([...new Set(progress)].sort((a, b) => a - b))
    expect(read.at(-1)?.id).toBeDefined()
    expect(read.filter(({ data }) => data.job?.state === 'completed')).toHaveLength(1)
  })

  test('ends when the API closes, and its reader can come back elsewhere', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, {})
    const { api, stream } = openDesk(holdfast)
    const reader = readEvents((await stream(`topic=job:${id}`)).body)
    await reader.next()

    await api.close()

    expect(await reader.next()).toBeUndefined()
    expect((await stream(`topic=job:${id}`)).status).toBe(429)
  })
})

const PIPELINE = '0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a'

async function appendLines(id: string, messages: readonly string[]): Promise<void> {
  const common = { job_id: Number(id), token: 1, at: '2026-01-01T00:00:00Z', level: 'info', fields: {} }
  const lines = messages.map((message) => ({ ...common, message }))
  await bench.look('select holdfast.append_logs_v1($1::text::jsonb)', [JSON.stringify(lines)])
}

function keep(read: LiveEvent[], event: LiveEvent | undefined): LiveEvent {
  if (!event) throw new Error('the stream ended')
  read.push(event)
  return event
}

async function readToTheEnd(reader: EventReader, read: LiveEvent[], lines: number): Promise<void> {
  const isWhole = () =>
    read.some(({ data }) => data.job?.state === 'completed') &&
    read.flatMap(({ data }) => data.logs ?? []).length >= lines
  while (!isWhole()) keep(read, await reader.next())
}

/** Lets a handler go on one step at a time, or at last without waiting. */
function pacer() {
  let allowed = 0
  let waiting = () => {}
  return {
    allow() {
      allowed += 1
      waiting()
    },
    allowAll() {
      allowed = Number.POSITIVE_INFINITY
      waiting()
    },
    async step() {
      while (allowed < 1) {
        await new Promise<void>((resolve) => {
          waiting = resolve
        })
      }
      allowed -= 1
    },
  }
}
