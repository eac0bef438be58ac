// schedule_claim_next: a due tick makes its job once; every other call is refused with its constant.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { at, dueAtNine, givenSchedule, plan, refusal, schedule, ticks } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const CLAIM = `select tick, state, job_id from holdfast.schedule_claim_next('hourly', 'w')`
const CLAIM_WITH = `select tick, state, job_id from holdfast.schedule_claim_next('hourly', 'w', $1, $2, $3, $4::jsonb[], $5)`
const jobs = () =>
  ask(db.admin, 'select id, type, queue, state, input, tags, key, key_policy, run_at from holdfast.jobs order by id')

describe('by hand', () => {
  test('it fires the due tick with the stored input and leaves the next one to be planned', async () => {
    const client = await db.connect()
    await dueAtNine(client, { input: { day: 'all' }, options: { queue: 'bulk', tags: ['a'] } })

    const fired = await ask(client, CLAIM)

    const [job] = await jobs()
    expect(fired).toEqual([{ tick: new Date(at('09:00')), state: 'fired', job_id: job?.id }])
    expect(job).toMatchObject({ type: 'report', queue: 'bulk', state: 'pending', input: { day: 'all' }, key: null })
    expect(job).toMatchObject({ tags: ['a', 'schedule:hourly'], run_at: new Date(at('09:00:01')) })
    expect(await schedule(client)).toMatchObject({
      next_tick: null,
      last_tick: new Date(at('09:00')),
      last_job: job?.id,
      locked_by: 'w',
      locked_until: new Date(at('09:00:31')),
    })
  })

  test('a schedule whose input code computes is left to a worker that has the code', async () => {
    const client = await db.connect()
    await ask(client, 'select holdfast.put_schedules_v1($1)', [
      '[{"job_key": "hourly", "type": "report", "cron": "0 * * * *", "input_from_code": true}]',
    ])
    await setClock(client, at('08:30'))
    await ask(db.admin, `update holdfast.schedule set counts_from = $1`, [at('08:30')])
    await plan(client, at('09:00'))
    await setClock(client, at('09:00:01'))

    expect(await refusal(ask(client, CLAIM))).toMatchObject({ code: 'JH005' })
  })
})

describe('refusals', () => {
  test('job_unknown', async () => {
    expect(await refusal(ask(db.pool, CLAIM))).toEqual({
      code: 'JH014',
      message: 'job_unknown',
      detail: { code: 'JOB_UNKNOWN', job_key: 'hourly' },
    })
  })

  test('job_not_due before the tick, and while no tick is planned', async () => {
    const client = await db.connect()
    await setClock(client, at('08:30'))
    await givenSchedule(client)
    const unplanned = await refusal(ask(client, CLAIM))
    await plan(client, at('09:00'))

    const early = await refusal(ask(client, CLAIM))

    expect(early).toMatchObject({ code: 'JH012', message: 'job_not_due', detail: { code: 'JOB_NOT_DUE' } })
    expect(unplanned).toMatchObject({ code: 'JH012', message: 'job_not_due' })
  })

  test('job_disabled when it is disabled, and when it is over', async () => {
    const client = await db.connect()
    await dueAtNine(client, { ends_at: at('10:00') })
    await ask(client, `select holdfast.disable_schedule('hourly')`)
    const disabled = await refusal(ask(client, CLAIM))
    await ask(client, `select holdfast.enable_schedule('hourly')`)
    await setClock(client, at('10:00'))

    const over = await refusal(ask(client, CLAIM))

    expect(disabled).toMatchObject({ code: 'JH013', message: 'job_disabled', detail: { code: 'JOB_DISABLED' } })
    expect(over).toMatchObject({ code: 'JH013', message: 'job_disabled' })
  })

  test('a tick before the end is fired although the end has passed since', async () => {
    const client = await db.connect()
    await dueAtNine(client, { ends_at: at('09:00:01') })

    expect(await ask(client, CLAIM)).toMatchObject([{ state: 'fired' }])
  })

  test('job_locked for as long as the lease of the type', async () => {
    const client = await db.connect()
    await dueAtNine(client)
    await ask(client, CLAIM)
    const locked = await refusal(ask(client, CLAIM))
    await setClock(client, at('09:00:31'))

    const after = await refusal(ask(client, CLAIM))

    expect(locked).toMatchObject({
      code: 'JH011',
      message: 'job_locked',
      detail: { code: 'JOB_LOCKED', job_key: 'hourly', locked_by: 'w' },
    })
    expect(after).toMatchObject({ message: 'job_not_due' })
  })

  test('job_locked while another has the advisory lock', async () => {
    const [one, two] = [await db.connect(), await db.connect()]
    await dueAtNine(one)
    await one.query('begin')
    await ask(one, CLAIM)

    expect(await refusal(ask(two, CLAIM))).toMatchObject({ code: 'JH011', message: 'job_locked' })
    await one.query('rollback')
  })

  test('job_locked while an operator changes it in an open transaction', async () => {
    const [one, two] = [await db.connect(), await db.connect()]
    await dueAtNine(one)
    await one.query('begin')
    await ask(one, `select holdfast.disable_schedule('hourly')`)

    expect(await refusal(ask(two, CLAIM))).toMatchObject({ message: 'job_locked' })
    await one.query('rollback')
  })

  test('a transaction that is not READ COMMITTED', async () => {
    const client = await db.connect()
    await client.query('begin isolation level repeatable read')

    expect(await refusal(ask(client, CLAIM))).toMatchObject({ code: 'JH006' })
    await client.query('rollback')
  })
})

describe('a worker', () => {
  test('sets the next tick, and holds the schedule no longer than until then', async () => {
    const client = await db.connect()
    await dueAtNine(client)
    await ask(client, CLAIM_WITH, [at('09:00'), at('09:00:10'), null, null, null])

    expect(await schedule(client)).toMatchObject({
      next_tick: new Date(at('09:00:10')),
      locked_until: new Date(at('09:00:10')),
    })
  })

  test('that expects another tick is refused', async () => {
    const client = await db.connect()
    await dueAtNine(client)

    const stale = await refusal(ask(client, CLAIM_WITH, [at('08:00'), at('10:00'), null, null, null]))

    expect(stale).toMatchObject({ message: 'job_not_due' })
    expect(await jobs()).toEqual([])
  })

  test('that has read an older timing is refused, even when the tick is the same', async () => {
    const client = await db.connect()
    await dueAtNine(client)
    const versioned = `select * from holdfast.schedule_claim_next('hourly', 'w', version => $1)`

    expect(await refusal(ask(client, versioned, [7]))).toMatchObject({ message: 'job_not_due' })
    expect(await ask(client, versioned, [1])).toMatchObject([{ state: 'fired' }])
  })

  test('fires several ticks, each with its input, and notes the missed ones', async () => {
    const client = await db.connect()
    await dueAtNine(client)
    await setClock(client, at('12:10'))
    const fire = [at('11:00'), at('12:00')]

    const dealtWith = await ask(client, CLAIM_WITH, [
      at('09:00'),
      at('13:00'),
      fire,
      ['{"n": 1}', '{"n": 2}'],
      [at('09:00'), at('10:00')],
    ])

    expect(dealtWith.map(({ state }) => state)).toEqual(['missed', 'missed', 'fired', 'fired'])
    expect((await jobs()).map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }])
    expect(await schedule(client)).toMatchObject({ last_tick: new Date(at('12:00')), next_tick: new Date(at('13:00')) })
  })

  test.each([
    ['a next tick that is not later than the fired ones', at('09:00'), null, null],
    ['a tick of the future', at('12:00'), [at('11:00')], null],
    ['a tick before the one that is due', at('12:00'), [at('08:00')], null],
    ['a missed tick after the next', at('10:00'), [], [at('10:00')]],
  ])('with %s is refused', async (_what, next, fire, missed) => {
    const client = await db.connect()
    await dueAtNine(client)

    expect(await refusal(ask(client, CLAIM_WITH, [at('09:00'), next, fire, null, missed]))).toMatchObject({
      code: 'JH005',
    })
    expect(await ticks(client)).toEqual([])
  })

  test('infinity means that there is no further tick', async () => {
    const client = await db.connect()
    await dueAtNine(client)
    await ask(client, CLAIM_WITH, [at('09:00'), 'infinity', null, null, null])
    await setClock(client, at('23:00'))

    expect(await refusal(ask(client, CLAIM))).toMatchObject({ message: 'job_not_due' })
    expect(await ask(client, `select * from holdfast.due_schedules_v1('{}')`)).toEqual([])
  })
})

test('a tick that was skipped in advance makes no job', async () => {
  const client = await db.connect()
  await dueAtNine(client)
  await ask(client, `select holdfast.skip_schedule('hourly')`)

  expect(await ask(client, CLAIM)).toEqual([{ tick: new Date(at('09:00')), state: 'skipped', job_id: null }])
  expect(await jobs()).toEqual([])
})

describe('overlap', () => {
  const again = async (client: Awaited<ReturnType<typeof db.connect>>) => {
    await plan(client, at('10:00'))
    await setClock(client, at('10:00:01'))
    return ask(client, CLAIM)
  }

  test('allow fires beside a job that still runs', async () => {
    const client = await db.connect()
    await dueAtNine(client)
    await ask(client, CLAIM)

    expect(await again(client)).toMatchObject([{ state: 'fired' }])
  })

  test.each(['pending', 'running'])('skip makes no job while the one before is %s', async (state) => {
    const client = await db.connect()
    await dueAtNine(client, { overlap: 'skip' })
    const [first] = await ask(client, CLAIM)
    if (state === 'running') await givenIn(client).claimed(first?.job_id)

    expect(await again(client)).toMatchObject([{ state: 'overlapped', job_id: null }])
    expect(await jobs()).toHaveLength(1)
  })

  test('skip fires once the job before has ended', async () => {
    const client = await db.connect()
    await dueAtNine(client, { overlap: 'skip' })
    const [first] = await ask(client, CLAIM)
    await ask(client, 'select holdfast.cancel_job($1)', [first?.job_id])

    expect(await again(client)).toMatchObject([{ state: 'fired' }])
  })

  test('supersede: the newer job takes the place of the older when it is claimed', async () => {
    const client = await db.connect()
    await dueAtNine(client, { overlap: 'supersede' })
    const [first] = await ask(client, CLAIM)
    const [second] = await again(client)

    await ask(client, `select * from holdfast.claim_jobs('w', '{default}', '{report}', 10)`)

    expect(await jobs()).toMatchObject([
      { id: first?.job_id, state: 'superseded', key: 'schedule:hourly', key_policy: 'supersede' },
      { id: second?.job_id, state: 'running' },
    ])
  })
})

test('jitter spreads the jobs after their tick, never before it', async () => {
  const client = await db.connect()
  await setClock(client, at('08:30'))
  await givenSchedule(client, { every_ms: 60_000, cron: null, jitter_ms: 60_000, missed: 'all' })
  await plan(client, at('09:00'))
  await setClock(client, at('09:00'))
  await ask(client, CLAIM)

  const offset = await askValue<number>(db.admin, 'select extract(epoch from run_at - $1)::float from holdfast.jobs', [
    at('09:00'),
  ])
  expect(offset).toBeGreaterThanOrEqual(0)
  expect(offset).toBeLessThanOrEqual(60)
})

// The one lease mapping, asserted for every key: that of the type in job_type, else 30 s.
test('each schedule is locked for the lease of its type', async () => {
  const client = await db.connect()
  await setClock(client, at('08:30'))
  const leases = { quick: 1, report: 30, long: 3600, longest: 86_400 }
  const types = Object.entries(leases).map(([type, lease_seconds]) => ({
    type,
    queue: 'default',
    priority: 5,
    max_attempts: 3,
    lease_seconds,
    backoff_base_ms: 1000,
    backoff_max_ms: 1000,
  }))
  await ask(client, 'select holdfast.put_job_types_v1($1)', [JSON.stringify(types)])
  for (const type of [...Object.keys(leases), 'nobody']) {
    await givenSchedule(client, { job_key: type, type })
    await plan(client, at('09:00'), type)
  }
  await setClock(client, at('09:00'))

  const held: Record<string, number> = {}
  for (const type of await askList<string>(client, 'select job_key from holdfast.list_schedules()')) {
    await ask(client, `select * from holdfast.schedule_claim_next($1, 'w')`, [type])
    const { locked_until } = await askRow(client, 'select locked_until from holdfast.find_schedule($1)', [type])
    held[type] = (locked_until.getTime() - Date.parse(at('09:00'))) / 1000
    expect(held[type]).toBe(await askValue(client, 'select holdfast.lease_seconds($1)', [type]))
  }
  expect(held).toEqual({ ...leases, nobody: 30 })
})
