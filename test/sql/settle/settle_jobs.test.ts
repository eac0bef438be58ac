// settle_jobs: a batch of any outcomes in one call, with the direct handoff of successors.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ask, askRow, askValue, type Row } from '../../support/ask.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { listen } from '../../support/listen.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
/** A row per lost member and per job that was handed off. */
async function complete(
  members: object[],
  room: Record<string, number> = { default: 10 },
  types = ['task'],
): Promise<Row[]> {
  const { lost, handed } = await askRow<{ lost: number[]; handed: Handed[] | null }>(
    db.pool,
    `select lost, array_to_json(handed) as handed from holdfast.settle_jobs_v1($1, 'w1', $2, $3, $4)`,
    [
      settlement(...members.map((member) => ({ outcome: 'complete', ...member }))),
      Object.keys(room),
      Object.values(room),
      types,
    ],
  )
  const given = (handed ?? []).map(({ lease_id, id, usual, input }) => ({
    lost: null,
    lease_id,
    id,
    token: usual.token,
    attempts: usual.attempts,
    input: input[0],
    pipeline_id: usual.pipeline_id,
  }))
  return [...lost.map((place) => ({ lost: place })), ...given]
}
interface Handed {
  readonly lease_id: string
  readonly id: string
  readonly usual: { readonly token: string; readonly attempts: number; readonly pipeline_id?: string }
  readonly input: unknown[]
}
const started = async (steps: Parameters<typeof enqueuePipeline>[1]) => {
  const { id } = await enqueuePipeline(db.pool, steps)
  const found = stepsOf(db.pool, db.admin, id)
  return { ...found, lease: await found.leaseOf('a') }
}
const FAN = [{ name: 'a' }, ...['x', 'y', 'z'].map((name) => ({ name, after: ['a'] }))]

describe('the handoff', () => {
  test('the next step is claimed for the caller in the same call', async () => {
    const steps = await started([{ name: 'a' }, { name: 'b', after: ['a'], input: { n: 1 } }])

    const rows = await complete([{ ...steps.lease, output: 7 }])

    expect(rows).toMatchObject([{ lost: null, id: await steps.jobOf('b'), input: { n: 1 }, attempts: 1, token: '1' }])
    expect(await steps.states()).toEqual({ a: 'completed', b: 'running' })
    const next: Lease = { job_id: rows[0]?.id, token: rows[0]?.token, lease_id: rows[0]?.lease_id }
    expect(await complete([next])).toEqual([])
    expect((await steps.states()).b).toBe('completed')
  })

  test('no more are handed off than the queue has room for; the others are pending', async () => {
    const steps = await started(FAN)

    const [handed] = await complete([steps.lease], { default: 2 })
    expect(handed?.id.split(',')).toHaveLength(2)

    expect(Object.values(await steps.states()).sort()).toEqual(['completed', 'pending', 'running', 'running'])
  })

  test.each([
    ['there is no room', { default: 0 }, ['task']],
    ['the queue is not served', { bulk: 5 }, ['task']],
    ['the type has no handler', { default: 5 }, ['other']],
  ])('no job is handed off when %s', async (_why, room, types) => {
    const steps = await started(FAN)

    expect(await complete([steps.lease], room as Record<string, number>, types)).toEqual([])

    expect((await steps.states()).x).toBe('pending')
  })

  test('no job is handed off of a paused queue', async () => {
    const steps = await started(FAN)
    await ask(db.pool, `select holdfast.pause_queue('default')`)

    expect(await complete([steps.lease])).toEqual([])

    expect((await steps.states()).x).toBe('pending')
  })

  test('a step whose key is held is not handed off', async () => {
    const steps = await started([{ name: 'a' }, { name: 'b', after: ['a'], key: 'k' }])
    const holder = await givenIn(db.pool).runningJob({ key: 'k' })

    expect(await complete([steps.lease])).toEqual([])
    await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(holder)])

    expect(await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)).toHaveLength(1)
  })

  test('what was completed in a transaction of its own hands its successor off when it is settled again', async () => {
    const steps = await started([{ name: 'a' }, { name: 'b', after: ['a'] }])
    const { job_id, token, lease_id } = steps.lease
    await ask(db.pool, 'select holdfast.complete_job($1, $2, $3)', [job_id, token, lease_id])

    expect(await complete([steps.lease])).toMatchObject([{ lost: null, id: await steps.jobOf('b') }])
  })

  test('sleeping workers are told of what was not handed off, and only of that', async () => {
    await ask(db.pool, `select holdfast.register_worker_v1('idle', 'pod', 1, '0', '{default}', '{task}', 1)`)
    await ask(db.pool, `select holdfast.sleep_worker_v1('idle', '{default}', 60000)`)
    const steps = await started([{ name: 'a' }, { name: 'b', after: ['a'] }, { name: 'c', after: ['b'] }])
    const heard = await listen(await db.connect(), 'holdfast_wake')
    await heard()

    const [b] = await complete([steps.lease])
    expect(await heard()).toEqual([])
    await complete([{ job_id: b?.id, token: b?.token, lease_id: b?.lease_id }], {})

    expect(await heard()).toEqual([''])
  })
})

describe('the guard', () => {
  test('a lost lease is told by its place, and its neighbour is settled', async () => {
    const steps = await started([{ name: 'a' }, { name: 'b', after: ['a'] }])
    const stale = { ...(await givenIn(db.pool).runningJob()), lease_id: randomUUID() }

    const rows = await complete([stale, steps.lease])

    expect(rows).toMatchObject([{ lost: 1 }, { lost: null, id: await steps.jobOf('b') }])
  })

  test('a stale lease frees nobody and chains nothing', async () => {
    const steps = await started([{ name: 'a' }, { name: 'b', after: ['a'] }])

    await complete([{ ...steps.lease, lease_id: randomUUID(), next: [{ type: 'task' }] }])

    expect(await steps.states()).toEqual({ a: 'running', b: 'waiting' })
    expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(2)
  })
})

describe('next', () => {
  test('a chained job follows with the completion, in the same pipeline, and may be handed off', async () => {
    const lease = await givenIn(db.pool).runningJob()

    const [next] = await complete([{ ...lease, next: [{ type: 'task', input: { n: 2 } }] }])

    expect(next).toMatchObject({ input: { n: 2 } })
    expect(
      await askValue(
        db.admin,
        'select count(distinct pipeline_id)::int from holdfast.job where pipeline_id is not null',
      ),
    ).toBe(1)
    expect(await askValue(db.admin, 'select pipeline_id from holdfast.job where id = $1', [lease.job_id])).toBe(
      next?.pipeline_id,
    )
  })

  test('repeating the completion after a lost answer chains nothing twice', async () => {
    const member = { ...(await givenIn(db.pool).runningJob()), next: [{ type: 'task' }] }
    await complete([member], {})

    expect(await complete([member], {})).toEqual([])
    expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(2)
  })

  test('a chained member that cannot be stored refuses the whole completion', async () => {
    const lease = await givenIn(db.pool).runningJob()

    await expect(complete([{ ...lease, next: [{ type: 'task', colour: 'red' }] }])).rejects.toMatchObject({
      code: 'JH005',
    })

    expect(await askValue(db.admin, 'select holdfast.state_of($1)', [lease.job_id])).toBe('running')
  })
})

describe('a mixed batch', () => {
  const settle = (...members: object[]) =>
    askValue<number[]>(db.pool, 'select lost from holdfast.settle_jobs_v1($1)', [settlement(...members)])

  test('each member has its own outcome, in one transaction', async () => {
    const given = givenIn(db.pool)
    const outcomes = [
      { outcome: 'complete', output: 7 },
      { outcome: 'fail', error: { message: 'broken' }, permanent: true },
      { outcome: 'fail', error: { message: 'broken' }, delay_ms: 60_000 },
      { outcome: 'snooze', delay_ms: 60_000 },
      { outcome: 'suspend', waits: [{ kind: 'sleep', name: 'nap', delay_ms: 60_000 }] },
      { outcome: 'release' },
      { outcome: 'cancel', reason: 'not wanted' },
    ]
    const members: object[] = []
    for (const outcome of outcomes) members.push({ ...(await given.runningJob()), ...outcome })

    expect(await settle(...members, { outcome: 'release' })).toEqual([8])

    const jobs = await ask(
      db.admin,
      'select state, attempts, output, error ->> $1 as message, run_at > holdfast.now() as later from holdfast.jobs order by id',
      ['message'],
    )
    expect(jobs).toEqual([
      { state: 'completed', attempts: 1, output: 7, message: null, later: false },
      { state: 'failed', attempts: 1, output: null, message: 'broken', later: false },
      { state: 'pending', attempts: 1, output: null, message: null, later: true },
      { state: 'pending', attempts: 0, output: null, message: null, later: true },
      { state: 'pending', attempts: 0, output: null, message: null, later: true },
      { state: 'pending', attempts: 0, output: null, message: null, later: false },
      { state: 'cancelled', attempts: 1, output: null, message: 'not wanted', later: false },
    ])
  })

  test('a pipeline of which one step completes while another fails is stopped', async () => {
    const { id } = await enqueuePipeline(db.pool, [
      { name: 'a' },
      { name: 'b' },
      { name: 'after a', after: ['a'] },
      { name: 'after b', after: ['b'] },
    ])
    const steps = stepsOf(db.pool, db.admin, id)
    const [a, b] = [await steps.leaseOf('a'), await steps.leaseOf('b')]

    expect(await settle({ ...a, outcome: 'complete' }, { ...b, outcome: 'fail', permanent: true })).toEqual([])

    expect(await steps.states()).toEqual({
      a: 'completed',
      b: 'failed',
      'after a': 'cancelled',
      'after b': 'cancelled',
    })
    expect(await askValue(db.admin, 'select stopped_by from holdfast.pipeline')).toBe(b.job_id)
  })

  test.each([['unknown'], [null], ['Complete']])(
    'outcome %s refuses the batch, and nothing is settled',
    async (outcome) => {
      const lease = await givenIn(db.pool).runningJob()

      await expect(settle({ ...lease, outcome: 'complete' }, { ...lease, outcome })).rejects.toMatchObject({
        code: 'JH005',
      })

      expect(await askValue(db.admin, 'select holdfast.state_of($1)', [lease.job_id])).toBe('running')
    },
  )
})
