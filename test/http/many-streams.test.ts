// A thousand readers, half of which never read: one connection that listens, bounded memory, and the quiet ones dropped.
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { createHttpApi } from '../../src/http/api.js'
import { nodeListener } from '../../src/http/node-listener.js'
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
function openStream(agent: Agent, topics: string, port = serving?.port): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const path = `/api/events?${topics}`
    const request = get({ agent, port, path, headers: headersOf() }, (response) => {
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
    const before = memoryInUse()
    for (let round = 1; round <= 20; round += 1) {
      await appendLine(id, `round ${round} ${'x'.repeat(1500)}`)
      await until(async () => heard.every((text) => text.includes(`round ${round} `)))
    }

    for (const text of heard) {
      const rounds = [...text.matchAll(/"message":"round (\d+) /g)].map((match) => Number(match[1]))
      expect(rounds).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    }
    expect(await listeners()).toBe(1)
    // What was read is kept by this test itself; beyond it a stream may have its buffer full, and no more.
    const kept = heard.reduce((sum, text) => sum + text.length, 0)
    expect(memoryInUse() - before - kept).toBeLessThan(1000 * 65_536)
    agent.destroy()
  })

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
    const api = createHttpApi(holdfast, { auth: namedByHeader, limits: { slowReaderMs: 500 } })
    const server = createServer(nodeListener(api, () => ({})))
    let isDropped = false
    server.on('connection', (socket) => {
      socket.on('close', () => {
        isDropped = true
      })
    })
    try {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      await openStream(new Agent(), `topic=job:${id}`, (server.address() as AddressInfo).port)

      // More than the buffers of the sockets on both sides take; the client itself cannot see what it does not read.
      for (let line = 0; !isDropped; line += 1) await appendLine(id, `line ${line}`, 'x'.repeat(6000))

      expect(isDropped).toBe(true)
    } finally {
      await api.close()
      server.closeAllConnections()
      server.close()
    }
  })
})

async function appendLine(id: string, message: string, filling = ''): Promise<void> {
  const line = { job_id: Number(id), token: 1, at: '2026-01-01T00:00:00Z', level: 'info', message, fields: { filling } }
  const lines = Array.from({ length: filling === '' ? 1 : 32 }, () => line)
  await bench.look('select holdfast.append_logs_v1($1::text::jsonb)', [JSON.stringify(lines)])
}

/** Of what is really held: garbage is collected first. */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
