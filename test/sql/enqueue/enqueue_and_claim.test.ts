// enqueue_and_claim: stored and claimed in one call for a worker of the caller's own process.
import { expect, test } from 'vitest'
import { ask, askRow, askValue, type Session } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

interface Claimed {
  readonly id: string
  readonly usual: { token: string; attempts: number }
  readonly input: unknown[]
  readonly lease_id: string
}

/** Pending jobs have ids and nothing else. */
const enqueue = async (inputs: unknown, common: object = {}, session: Session = db.pool) => {
  const stored = await askValue<Claimed>(session, 'select holdfast.enqueue_and_claim_v1($1, $2, $3, $4)', [
    JSON.stringify(inputs),
    JSON.stringify({ type: 'task', queue: 'own', ...common }),
    'w',
    'own',
  ])
  const ids = stored.id.split(',').filter((id) => id !== '')
  return { ids, jobs: Object.keys(stored).length > 1 ? stored : null }
}
const states = () => ask(db.admin, 'select state, attempts, token::int, locked_by from holdfast.jobs order by id')

test('the jobs run for the caller, in order, each with its first token, and can be completed', async () => {
  const { ids, jobs } = await enqueue([{ n: 1 }, [2], null], { tags: ['x'] })

  expect(jobs).toMatchObject({ id: ids.join(), usual: { token: '1', attempts: 1 }, input: [{ n: 1 }, [2], null] })
  expect(await states()).toEqual(ids.map(() => ({ state: 'running', attempts: 1, token: 1, locked_by: 'w' })))
  const claim = [ids, [ids.length], [jobs?.usual.token], [jobs?.lease_id]]
  expect(await askValue(db.pool, 'select holdfast.complete_plain_jobs_v1($1, $2, $3, $4)', claim)).toEqual([])
})

test('the lease lasts as long as that of a claim', async () => {
  await ask(
    db.pool,
    `select holdfast.put_job_types_v1('[{"type": "task", "queue": "own", "priority": 1, "max_attempts": 9,
      "lease_seconds": 77, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  )
  const { ids, jobs } = await enqueue([{}])

  expect(jobs).toMatchObject({ usual: { priority: 1, max_attempts: 9, lease_seconds: 77 } })
  expect(
    await askRow(
      db.admin,
      `select extract(epoch from locked_until - locked_at)::int as seconds from holdfast.lease where job_id = $1`,
      [ids[0]],
    ),
  ).toEqual({ seconds: 77 })
})

test.each([[[{ b: 1, a: [2] }, 'two']], [['x'.repeat(10_000)]]])('it returns what is stored', async (inputs) => {
  const { jobs } = await enqueue(inputs, {
    tags: ['x', 'y'],
    pipeline_id: '7d444840-9dc0-11d1-b245-5ffdce74fad2',
    trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    priority: 2,
  })

  const stored = 'select holdfast.encode_claimed_jobs(array_agg(l order by l.job_id)) from holdfast.lease as l'
  expect(jobs).toEqual(await askValue(db.admin, stored))
  expect(jobs?.input).toEqual(inputs)
})

test('a job has the columns that the claim of an equal one has', async () => {
  const { jobs } = await enqueue([1], { tags: ['x'] })
  await ask(db.pool, `select holdfast.enqueue('task', '1', '{"queue": "own", "tags": ["x"]}')`)
  const claimed = await askValue<object>(db.pool, `select jobs from holdfast.claim_batch_v1('w', 'own', '{task}', 1)`)

  const { id: _, due_ms: __, lease_id: ___, ...expected } = claimed as Record<string, unknown>
  expect(jobs).toMatchObject(expected)
})

test.each([
  ['due later', { delay: '1h' }],
  ['of another queue', { queue: 'other' }],
])('what is %s is pending', async (_, common) => {
  const { ids, jobs } = await enqueue([1, 2], common)

  expect(ids).toHaveLength(2)
  expect(jobs).toBeNull()
  expect(await states()).toEqual(ids.map(() => ({ state: 'pending', attempts: 0, token: 0, locked_by: null })))
})

test('no inputs make no jobs', async () => {
  expect(await enqueue([])).toEqual({ ids: [], jobs: null })
})

test('what a paused queue gets is pending', async () => {
  await ask(db.pool, `select holdfast.pause_queue('own')`)

  expect(await enqueue([1])).toMatchObject({ jobs: null })
  expect(await states()).toMatchObject([{ state: 'pending' }])
})

test.each<[string, unknown, object, RegExp]>([
  ['an input too large', [1, 'x'.repeat(300_000)], {}, /^INVALID_INPUT/],
  ['no list of inputs', { n: 1 }, {}, /^INVALID_OPTION: inputs must be/],
  ['no type', [1], { type: null }, /^INVALID_OPTION: type must be/],
  ['a type with a control character', [1], { type: 'a\u0001' }, /^INVALID_OPTION: type must be/],
  ['a queue without a name', [1], { queue: '' }, /^INVALID_OPTION: option queue/],
  ['a priority beyond all', [1], { priority: 10 }, /^INVALID_OPTION: option priority/],
  ['no attempts', [1], { max_attempts: 0 }, /^INVALID_OPTION: option max_attempts/],
  ['a key', [1], { key: 'k' }, /^INVALID_OPTION: common options/],
])('%s refuses all, and nothing is stored or claimed', async (_, inputs, common, refusal) => {
  await expect(enqueue(inputs, common)).rejects.toThrow(refusal)

  expect(await states()).toEqual([])
})

test('no worker is refused', async () => {
  const call = `select holdfast.enqueue_and_claim_v1('[1]', '{"type": "task"}', '', 'own')`

  await expect(ask(db.pool, call)).rejects.toThrow(/^INVALID_OPTION: worker must be/)
})

test('it needs a transaction that sees what it waited for, as every claim does', async () => {
  const session = await db.connect()
  await session.query('begin isolation level repeatable read')

  await expect(enqueue([1], {}, session)).rejects.toThrow(/^WRONG_ISOLATION/)
})
