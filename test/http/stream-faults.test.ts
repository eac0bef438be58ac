// Live streams while the database is in trouble: readers stay, and hear what happened once it answers again.
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { ask, askValue } from '../support/ask.js'
import { readEvents } from '../support/event-reader.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { useDesk } from '../support/http.js'

const mail = defineJob({ type: 'mail', queue: 'mail' })
const bench = useHoldfast()
const openDesk = useDesk()

const OTHERS = 'datname = current_database() and pid <> pg_backend_pid() and usename <> current_user'

describe('a live stream', () => {
  test('outlives the end of every connection, the listening one too', async () => {
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, {}, { delay: '1h' })
    const reader = readEvents((await openDesk(holdfast).stream(`topic=job:${id}&topic=stats`)).body)
    await reader.until(({ event }) => event === 'job')
    const listening = `select count(*) from pg_stat_activity where ${OTHERS} and query ilike 'listen %'`
    await until(async () => (await askValue<string>(bench.database.admin, listening)) === '1')

    const ended = await ask(
      bench.database.admin,
      `select pg_terminate_backend(pid) from pg_stat_activity where ${OTHERS}`,
    )
    expect(ended.length).toBeGreaterThan(1)
    await bench.look('select holdfast.cancel_job($1)', [id])

    await reader.until(({ data }) => data.job?.state === 'cancelled')
    await until(async () => (await askValue<string>(bench.database.admin, listening)) === '1')
    await reader.cut()
  })

  test('tells what changed although the look at something else failed', async () => {
    const logged: string[] = []
    const logger = { debug() {}, info() {}, error() {}, warn: (_: object, message = '') => logged.push(message) }
    const holdfast = bench.open({ jobs: [mail] })
    const { id } = await holdfast.enqueue(mail, {}, { delay: '1h' })
    const { stream } = openDesk(holdfast, { logger })
    const reader = readEvents((await stream(`topic=job:${id}&topic=queue:mail`)).body)
    await reader.until(({ event }) => event === 'queue')

    // From here on queues cannot be listed: jobs are looked at first, and the look fails after that.
    await bench.look('alter function holdfast.list_queues_v1(text, integer) rename to list_queues_away')
    try {
      await until(async () => logged.length > 0)
      await holdfast.cancel(id)

      await reader.until(({ data }) => data.job?.state === 'cancelled')
    } finally {
      await bench.look('alter function holdfast.list_queues_away(text, integer) rename to list_queues_v1')
    }
    await reader.until(({ event }) => event === 'queue')
    await reader.cut()
  })
})
