// A thousand readers, half of which never read: one connection that listens, bounded memory, and the quiet ones dropped.
import { Agent, get, type IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { type Serving, serve } from '../../src/http/serve.js'
import { defineJob } from '../../src/index.js'
import { askValue } from '../support/ask.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { headersOf, namedByHeader, useDesk } from '../support/http.js'

const mail = defineJob({ type: 'mail', queue: 'mail' })
const bench = useHoldfast()
const openDesk = useDesk()

let serving: Serving | undefined
const opened: IncomingMessage[] = []
afterEach(async () => {
  for (const response of opened.splice(0)) response.destroy()
  await serving?.close()
  serving = undefined
})

function listeners(): Promise<number> {
  return askValue<string>(
    bench.database.admin,
    `select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`,
  ).then(Number)
}

/** A stream over a socket; nothing of it is read until somebody does. */
function openStream(agent: Agent, topics: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const path = `/api/events?${topics}`
    const request = get({ agent, port: serving?.port, path, headers: headersOf() }, (response) => {
      opened.push(response)
      response.on('error', () => {})
      resolve(response)
    })
    request.on('error', reject)
  })
}

describe('a thousand streams', () => {
  test('share one connection that listens; those who read hear, those who do not cost a bounded sum', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, {}, { delay: '1h' })
    const limits = { streamsOfOne: 1000, requests: { perSecond: 10_000, burst: 10_000 } }
    serving = await serve(holdfast, { port: 0, auth: namedByHeader, limits })
    const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
    const streams: IncomingMessage[] = []
    while (streams.length < 1000) {
      const some = Array.from({ length: 50 }, () => openStream(agent, `topic=stats&topic=queue:mail&topic=job:${id}`))
      streams.push(...(await Promise.all(some)))
    }
    expect(streams.every(({ statusCode }) => statusCode === 200)).toBe(true)
    const reading = streams.filter((_, i) => i % 2 === 0)
    const heard = reading.map(() => '')
    reading.forEach((response, i) => {
      response.on('data', (chunk) => {
        heard[i] += chunk
      })
    })
    await until(async () => heard.every((text) => text.includes('"job":')))

    expect(await listeners()).toBe(1)
    const before = memory()
    for (let round = 1; round <= 20; round += 1) {
      await appendLine(id, `round ${round} ${'x'.repeat(1500)}`)
      await until(async () => heard.every((text) => text.includes(`round ${round} `)))
    }

    for (const text of heard) {
      const rounds = [...text.matchAll(/"message":"round (\d+) /g)].map((match) => Number(match[1]))
      expect(rounds).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    }
    expect(await listeners()).toBe(1)
    // Each of the thousand may have a buffer of ours and one of its socket, filled to about a hundred kilobytes, and no more.
    expect(memory() - before).toBeLessThan(1000 * 131_072)
    agent.destroy()
  }, 120_000)

  test('beyond the limit are refused with the time to wait', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { stream, as } = openDesk(holdfast, { limits: { streams: 2 } })
    const first = await stream('topic=stats')
    await stream('topic=stats')

    const third = await stream('topic=stats')

    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await as()('GET /api/me')).status).toBe(200)
    await first.body?.cancel()
    expect((await stream('topic=stats')).status).toBe(200)
  })

  test('of one principal leave room for others', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { stream } = openDesk(holdfast, { limits: { streamsOfOne: 1 } })
    await stream('topic=stats')

    expect((await stream('topic=stats')).status).toBe(429)
    expect((await stream('topic=stats', headersOf({ name: 'other' }))).status).toBe(200)
  })

  test('end the listening connection with the last of them', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { stream } = openDesk(holdfast)
    const { body } = await stream('topic=stats')
    await until(async () => (await listeners()) === 1)

    await body?.cancel()

    await until(async () => (await listeners()) === 0)
  })
})

describe('a reader that does not read', () => {
  test('is dropped, and its connection with it', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, {}, { delay: '1h' })
    serving = await serve(holdfast, { port: 0, auth: namedByHeader, limits: { slowReaderMs: 500 } })
    const agent = new Agent()
    const response = await openStream(agent, `topic=job:${id}`)
    let isDropped = false
    response.on('close', () => {
      isDropped = true
    })

    // More than the buffers of the sockets on both sides take.
    for (let line = 0; !isDropped; line += 1) await appendLine(id, `line ${line}`, 'x'.repeat(200_000 / 32))

    expect(isDropped).toBe(true)
    agent.destroy()
  })
})

async function appendLine(id: string, message: string, filling = ''): Promise<void> {
  const line = { job_id: Number(id), token: 1, at: '2026-01-01T00:00:00Z', level: 'info', message, fields: { filling } }
  const lines = Array.from({ length: filling === '' ? 1 : 32 }, () => line)
  await bench.look('select holdfast.append_logs_v1($1::text::jsonb)', [JSON.stringify(lines)])
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
