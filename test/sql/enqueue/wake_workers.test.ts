// Who is notified: callers in their own transaction always, others only if a worker would sleep past the job.
import { describe, expect, test } from 'vitest'
import { ask } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { listen } from '../../support/listen.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const NOW = '2030-01-01T00:00:00Z'
const enqueue = (wake: string, options: object = {}) => [
  `select holdfast.enqueue_jobs('[{"type": "task"}]', $1, $2)`,
  [JSON.stringify(options), wake],
]
const call = (client: Parameters<typeof ask>[0], [text, values]: unknown[]) =>
  ask(client, text as string, values as unknown[])

/** A producer whose clock stands, and a worker that sleeps from NOW for a minute. */
async function stage({ sleeping }: { sleeping: boolean }) {
  const client = await db.connect()
  await setClock(client, NOW)
  await ask(client, `select holdfast.register_worker_v1('w', 'pod', 1, '1', '{default}', '{task}', 1)`)
  if (sleeping) await ask(client, `select holdfast.sleep_worker_v1('w', '{default}', 60000)`)
  return { client, heard: await listen(await db.connect(), 'holdfast_wake') }
}

describe('always', () => {
  test('notifies with an empty payload, also when nobody sleeps', async () => {
    const { client, heard } = await stage({ sleeping: false })

    await call(client, enqueue('always'))

    expect(await heard()).toEqual([''])
  })

  test('notifies once per transaction, when it commits', async () => {
    const { client, heard } = await stage({ sleeping: false })
    await client.query('begin')
    for (let i = 0; i < 3; i += 1) await call(client, enqueue('always'))
    expect(await heard()).toEqual([])

    await client.query('commit')

    expect(await heard()).toEqual([''])
  })

  test('notifies nothing when the transaction rolls back', async () => {
    const { client, heard } = await stage({ sleeping: false })
    await client.query('begin')
    await call(client, enqueue('always'))
    await client.query('rollback')

    expect(await heard()).toEqual([])
  })

  test('is what enqueue does', async () => {
    const { client, heard } = await stage({ sleeping: false })

    await givenIn(client).pendingJob()

    expect(await heard()).toEqual([''])
  })
})

describe('sleepers', () => {
  test('notifies when a worker of the queue sleeps', async () => {
    const { client, heard } = await stage({ sleeping: true })

    await call(client, enqueue('sleepers'))

    expect(await heard()).toEqual([''])
  })

  test.each([
    ['nobody sleeps', { sleeping: false }, {}],
    ['the sleeper serves another queue', { sleeping: true }, { queue: 'other' }],
    ['the sleeper wakes before the job is due', { sleeping: true }, { delay: '2m' }],
  ])('notifies nobody when %s', async (_why, staged, options) => {
    const { client, heard } = await stage(staged)

    await call(client, enqueue('sleepers', options))

    expect(await heard()).toEqual([])
  })

  test('notifies nobody once the worker says that it is awake', async () => {
    const { client, heard } = await stage({ sleeping: true })
    await ask(client, `select holdfast.sleep_worker_v1('w', '{default}', null)`)

    await call(client, enqueue('sleepers'))

    expect(await heard()).toEqual([])
  })

  test.each([
    ['a release', 'release_jobs', {}, ['']],
    ['a snooze that ends before the sleep', 'snooze_jobs', { delay_ms: 1000 }, ['']],
    ['a snooze beyond the sleep', 'snooze_jobs', { delay_ms: 90_000 }, []],
    ['a failure whose next attempt is due before the sleep ends', 'fail_jobs', { delay_ms: 1000 }, ['']],
    ['a failure whose next attempt is later', 'fail_jobs', { delay_ms: 90_000 }, []],
    ['a completion', 'complete_jobs', {}, []],
  ])('%s notifies accordingly', async (_what, operation, more, notified) => {
    const { client, heard } = await stage({ sleeping: true })
    const lease = await givenIn(client).runningJob()
    await heard()

    await ask(client, `select * from holdfast.${operation}($1)`, [settlement({ ...lease, ...more })])

    expect(await heard()).toEqual(notified)
  })

  test('a completion that lets a parked job out notifies', async () => {
    const { client, heard } = await stage({ sleeping: true })
    const lease = await givenIn(client).runningJob({ key: 'k' })
    await givenIn(client).pendingJob({ key: 'k' })
    await ask(client, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 1)`)
    await heard()

    await ask(client, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])

    expect(await heard()).toEqual([''])
  })
})

test('never notifies nobody', async () => {
  const { client, heard } = await stage({ sleeping: true })

  await call(client, enqueue('never'))

  expect(await heard()).toEqual([])
})
