// enqueue_and_claim_one: the short way of enqueue_and_claim, for one job without options.
import { expect, test } from 'vitest'
import { ask, askRow, askValue, type Session } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

type Facts = [id: string, leaseId: string | null, leaseSeconds: number | null, dueMs: number | null, input: unknown]

interface Asked {
  type?: string | null
  input?: string | null
  queue?: string | null
  priority?: number | null
  maxAttempts?: number | null
  worker?: string | null
}

const enqueue = (asked: Asked = {}, session: Session = db.pool) => {
  const { type, input, queue, priority, maxAttempts, worker } = {
    ...{ type: 'task', input: '{"n": 1}', queue: 'own', priority: 4, maxAttempts: 7, worker: 'w' },
    ...asked,
  }
  return askValue<Facts>(session, 'select holdfast.enqueue_and_claim_one_v1($1, $2, $3, $4, $5, $6)', [
    type,
    input,
    queue,
    priority,
    maxAttempts,
    worker,
  ])
}
const states = () => ask(db.admin, 'select state, attempts, token::int, locked_by from holdfast.jobs order by id')

test('the job runs for the caller with its first token, and can be completed', async () => {
  const [id, leaseId, , , input] = await enqueue()

  expect(input).toEqual({ n: 1 })
  expect(await states()).toEqual([{ state: 'running', attempts: 1, token: 1, locked_by: 'w' }])
  const lost = await askValue(db.pool, `select holdfast.complete_leases_v1($1, '{1}', $2)`, [[id], [leaseId]])
  expect(lost).toEqual([])
})

test('it tells of the job what a claim would tell, and leaves the rows that enqueue_and_claim leaves', async () => {
  const [id, leaseId, leaseSeconds, dueMs, input] = await enqueue()
  const common = { type: 'task', queue: 'own', priority: 4, max_attempts: 7 }
  const other = await askValue<{ id: string }>(
    db.pool,
    `select (holdfast.enqueue_and_claim_v1('[{"n": 1}]', $1, 'w', 'own')).jobs`,
    [common],
  )

  const claimed = await askValue(db.admin, 'select holdfast.encode_claimed_jobs($1, $2, $3)', [
    [id],
    leaseId,
    { task: leaseSeconds },
  ])
  expect(claimed).toMatchObject({
    due_ms: [dueMs],
    input: [input],
    usual: { token: '1', priority: 4, max_attempts: 7 },
  })
  const [own, same] = await ask<{ job: object; lease: object }>(
    db.admin,
    `select to_jsonb(j) - '{id,created_at}'::text[] as job,
            to_jsonb(l) - '{job_id,lease_id,run_at,locked_at,locked_until}'::text[] as lease,
            l.locked_until - l.locked_at as lasts, l.run_at = j.created_at as is_due
       from holdfast.job as j join holdfast.lease as l on l.job_id = j.id
      where j.id in ($1, $2) order by j.id`,
    [id, other.id],
  )
  expect(own).toEqual(same)
})

test('the lease lasts as long as that of a claim', async () => {
  await ask(
    db.pool,
    `select holdfast.put_job_types_v1('[{"type": "task", "queue": "own", "priority": 1, "max_attempts": 9,
      "lease_seconds": 77, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  )
  const [id, , leaseSeconds] = await enqueue()

  expect(leaseSeconds).toBe(77)
  const lasts =
    'select extract(epoch from locked_until - locked_at)::int as seconds from holdfast.lease where job_id = $1'
  expect(await askRow(db.admin, lasts, [id])).toEqual({ seconds: 77 })
})

test('what a paused queue gets is pending', async () => {
  await ask(db.pool, `select holdfast.pause_queue('own')`)
  const [id, ...rest] = await enqueue()

  expect(rest).toEqual([null, null, null, { n: 1 }])
  expect(await ask(db.admin, 'select job_id::text, priority, max_attempts from holdfast.ready')).toEqual([
    { job_id: id, priority: 4, max_attempts: 7 },
  ])
})

test('a long input is stored like a short one', async () => {
  const text = 'x'.repeat(10_000)
  const [, leaseId, , , input] = await enqueue({ input: JSON.stringify(text) })

  expect(leaseId).not.toBeNull()
  expect(input).toBe(text)
})

test.each<[string, Asked, RegExp]>([
  ['no type', { type: null }, /^INVALID_OPTION: type must be/],
  ['a type with a control character', { type: 'a\u0001' }, /^INVALID_OPTION: type must be/],
  ['a queue without a name', { queue: '' }, /^INVALID_OPTION: option queue/],
  ['no queue', { queue: null }, /^INVALID_OPTION: option queue/],
  ['a priority beyond all', { priority: 10 }, /^INVALID_OPTION: option priority/],
  ['no attempts', { maxAttempts: 0 }, /^INVALID_OPTION: option max_attempts/],
  ['too many attempts', { maxAttempts: 1001 }, /^INVALID_OPTION: option max_attempts/],
  ['no worker', { worker: '' }, /^INVALID_OPTION: worker must be/],
  ['no input', { input: null }, /^INVALID_OPTION: inputs must be/],
  ['an input too large', { input: JSON.stringify('x'.repeat(300_000)) }, /^INVALID_INPUT/],
  ['an input too deep', { input: '['.repeat(70) + ']'.repeat(70) }, /^INVALID_INPUT/],
  ['a number too large', { input: '1e400' }, /^INVALID_INPUT/],
])('%s is refused, and nothing is stored or held', async (_, asked, refusal) => {
  await expect(enqueue(asked)).rejects.toThrow(refusal)

  expect(await states()).toEqual([])
})

test('it needs a transaction that sees what it waited for, as every claim does', async () => {
  const session = await db.connect()
  await session.query('begin isolation level repeatable read')

  await expect(enqueue({}, session)).rejects.toThrow(/^WRONG_ISOLATION/)
})
