// cancel_pipeline: everything that lives of a pipeline is ended.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { settlement } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const GRAPH = [
  { name: 'a' },
  { name: 'b', key: 'k' },
  { name: 'c' },
  { name: 'd', after: ['a', 'b'] },
  { name: 'e', after: ['d'] },
]
const cancel = (id: string, reason: string | null = null) =>
  askRow(db.pool, 'select * from holdfast.cancel_pipeline($1, $2, $3)', [id, reason, 'ada'])

test.each(['stop', 'continue', 'compensate'])(
  'all that lives is cancelled, whatever its place (%s)',
  async (onFailure) => {
    const { id } = await enqueuePipeline(db.pool, GRAPH, { on_failure: onFailure })
    const steps = stepsOf(db.pool, db.admin, id)
    await steps.complete('c')
    const running = await steps.leaseOf('b')

    expect(await cancel(id, 'enough')).toEqual({ cancelled: 4, lives: false })

    expect(await steps.states()).toEqual({
      a: 'cancelled',
      b: 'cancelled',
      c: 'completed',
      d: 'cancelled',
      e: 'cancelled',
    })
    expect(
      await askList(db.admin, `select distinct error ->> 'message' from holdfast.outcome where state = 'cancelled'`),
    ).toEqual(['enough'])
    const late = await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(running)])
    expect(late).toMatchObject([{ settled: false }])
    expect(await askValue(db.admin, 'select holder from holdfast.job_key')).toBeNull()
    expect(await askValue(db.pool, 'select state from holdfast.find_pipeline($1)', [id])).toBe('cancelled')
    expect(await askRow(db.admin, `select actor, details ->> 'cancelled' as n from holdfast.audit`)).toEqual({
      actor: 'ada',
      n: '4',
    })
  },
)

test('a pipeline that has ended is left as it is', async () => {
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }])
  await stepsOf(db.pool, db.admin, id).complete('a')

  expect(await cancel(id)).toEqual({ cancelled: 0, lives: false })
  expect(await askValue(db.pool, 'select state from holdfast.find_pipeline($1)', [id])).toBe('completed')
})

test('an unknown pipeline is refused', async () => {
  await expect(cancel('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ code: 'JH021' })
})

test('jobs that share a pipeline_id without a graph are cancelled together too', async () => {
  const pipeline_id = '11111111-1111-4111-8111-111111111111'
  for (let i = 0; i < 3; i += 1) await ask(db.pool, `select holdfast.enqueue('task', '{}', $1)`, [{ pipeline_id }])

  expect(await cancel(pipeline_id)).toEqual({ cancelled: 3, lives: false })
})

test('a cancellation waits for a completion in the same pipeline and cancels what that made pending', async () => {
  const { id } = await enqueuePipeline(db.pool, GRAPH)
  const steps = stepsOf(db.pool, db.admin, id)
  const leases = [await steps.leaseOf('a'), await steps.leaseOf('b')]
  const [worker, operator] = [await db.connect(), await db.connect()]
  const pid = await pidOf(operator)
  await worker.query('begin')
  await ask(worker, 'select * from holdfast.complete_jobs($1)', [settlement(...leases)])

  const cancellation = askRow(operator, 'select * from holdfast.cancel_pipeline($1)', [id])
  await waitUntilBlocked(db.admin, pid)
  await worker.query('commit')

  expect(await cancellation).toEqual({ cancelled: 3, lives: false })
  expect(await steps.states()).toMatchObject({ a: 'completed', b: 'completed', d: 'cancelled', e: 'cancelled' })
})

test('a waiting job that is cancelled while it becomes pending is met in its next place', async () => {
  const { id } = await enqueuePipeline(db.pool, [
    { name: 'a' },
    { name: 'b', after: ['a'] },
    { name: 'c', after: ['b'] },
  ])
  const steps = stepsOf(db.pool, db.admin, id)
  const lease = await steps.leaseOf('a')
  const [worker, operator] = [await db.connect(), await db.connect()]
  const pid = await pidOf(operator)
  await worker.query('begin')
  await ask(worker, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])

  const cancellation = askValue(operator, 'select holdfast.cancel_job($1)', [await steps.jobOf('b')])
  await waitUntilBlocked(db.admin, pid)
  await worker.query('commit')

  expect(await cancellation).toBe('pending')
  expect(await steps.states()).toEqual({ a: 'completed', b: 'cancelled', c: 'cancelled' })
})

test('a pending keyed step that is cancelled lets the parked job behind it go', async () => {
  const holder = await askRow(db.pool, `select holdfast.enqueue('task', '{}', '{"key": "k"}') as id`)
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a', key: 'k' }])
  await ask(db.pool, `select holdfast.enqueue('task', '{}', '{"key": "k"}')`)
  const [lease] = await ask(
    db.pool,
    `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', 10)`,
  )
  expect(lease?.job_id).toBe(holder.id)
  await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(lease as object)])

  await cancel(id)

  expect(await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)).toHaveLength(1)
})
