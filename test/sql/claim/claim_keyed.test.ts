// Keys of policy exclusive: one job of a key at a time, the others wait parked and in order.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { pidOf, refuseToWait, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const claimIds = (session: Session = db.pool, n = 10) =>
  askList<string>(session, `select id from holdfast.claim_jobs('w', '{default}', '{task}', $1)`, [n])
const parked = (id: string) => askValue<boolean>(db.admin, 'select parked from holdfast.ready where job_id = $1', [id])
const complete = (lease: Lease) => ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(lease)])

describe('while a key is held', () => {
  test('one claim takes one job of a key and parks the others', async () => {
    const [first, second, third] = [
      await given().pendingJob({ key: 'k' }),
      await given().pendingJob({ key: 'k' }),
      await given().pendingJob({ key: 'k' }),
    ]

    expect(await claimIds()).toEqual([first])
    expect([await parked(second), await parked(third)]).toEqual([true, true])
    expect(await claimIds()).toEqual([])
  })

  test('jobs of other keys and of none are claimed beside it', async () => {
    const [a, b, none] = [
      await given().pendingJob({ key: 'a' }),
      await given().pendingJob({ key: 'b' }),
      await given().pendingJob(),
    ]
    await given().pendingJob({ key: 'a' })

    expect((await claimIds()).sort()).toEqual([a, b, none].sort())
  })

  test('the backlog of a held key does not use up what a claim may take', async () => {
    await given().runningJob({ key: 'k' })
    for (let i = 0; i < 5; i += 1) await given().pendingJob({ key: 'k' })
    const free = await given().pendingJob()

    expect(await claimIds(db.pool, 1)).toEqual([free])
  })

  test('a job of the key that is not due is not parked', async () => {
    await given().runningJob({ key: 'k' })
    const due = await given().pendingJob({ key: 'k' })
    const future = await given().pendingJob({ key: 'k', delay: '1h' })

    await claimIds()

    expect([await parked(due), await parked(future)]).toEqual([true, false])
  })

  test('a parked job can be claimed from no queue and by no id', async () => {
    await given().runningJob({ key: 'k' })
    const waiting = await given().pendingJob({ key: 'k', queue: 'other' })
    await askList(db.pool, `select id from holdfast.claim_jobs('w', '{other}', '{task}', 10)`)

    expect(await parked(waiting)).toBe(true)
    expect(await askValue(db.pool, 'select holdfast.claim_job($1, $2)', [waiting, 'w'])).toBe(false)
  })
})

describe('when the key is freed', () => {
  const endings: [string, (lease: Lease) => Promise<unknown>][] = [
    ['completes', complete],
    [
      'fails for good',
      (lease) => ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...lease, permanent: true })]),
    ],
    [
      'fails and will be retried',
      (lease) => ask(db.pool, 'select holdfast.fail_jobs($1)', [settlement({ ...lease, delay_ms: 60_000 })]),
    ],
    [
      'is snoozed',
      (lease) => ask(db.pool, 'select holdfast.snooze_jobs($1)', [settlement({ ...lease, delay_ms: 60_000 })]),
    ],
    ['cancels itself', (lease) => ask(db.pool, 'select holdfast.cancel_jobs($1)', [settlement(lease)])],
    ['is cancelled', (lease) => ask(db.pool, 'select holdfast.cancel_job($1)', [lease.job_id])],
    [
      'completes in a transaction of its own',
      (lease) => ask(db.pool, 'select holdfast.complete_job($1, $2, $3)', [lease.job_id, lease.token, lease.lease_id]),
    ],
  ]
  test.each(endings)('because its holder %s, the next job is claimed', async (_how, end) => {
    const holder = await given().runningJob({ key: 'k' })
    const next = await given().pendingJob({ key: 'k' })
    await given().pendingJob({ key: 'k' })
    await claimIds()
    expect(await parked(next)).toBe(true)

    await end(holder)

    expect(await claimIds()).toEqual([next])
  })

  test('a released holder goes first again and parks the job that was let out', async () => {
    const holder = await given().runningJob({ key: 'k' })
    const next = await given().pendingJob({ key: 'k' })
    await claimIds()

    await ask(db.pool, 'select holdfast.release_jobs($1)', [settlement(holder)])

    expect(await claimIds()).toEqual([holder.job_id])
    expect(await parked(next)).toBe(true)
  })

  test('jobs of a key run by priority, then run_at, then id', async () => {
    const holder = await given().runningJob({ key: 'k' })
    const last = await given().pendingJob({ key: 'k', priority: 9, run_at: '2020-01-01T00:00:00Z' })
    const third = await given().pendingJob({ key: 'k' })
    const second = await given().pendingJob({ key: 'k', run_at: '2020-01-01T00:00:00Z' })
    const first = await given().pendingJob({ key: 'k', priority: 1 })
    await claimIds()

    const ran: string[] = []
    for (let lease: Lease | undefined = holder; lease; ) {
      await complete(lease)
      const [job] = await ask<Lease>(
        db.pool,
        `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', 10)`,
      )
      if (job) ran.push(job.job_id)
      lease = job
    }

    expect(ran).toEqual([first, second, third, last])
  })

  test('the waiting job of another queue than its holder is let out there', async () => {
    const holder = await given().runningJob({ key: 'k' })
    const elsewhere = await given().pendingJob({ key: 'k', queue: 'other' })
    const other = `select id from holdfast.claim_jobs('w', '{other}', '{task}', 10)`
    await askList(db.pool, other)

    await complete(holder)

    expect(await askList(db.pool, other)).toEqual([elsewhere])
  })

  test('cancelling the job that was let out lets out the next one', async () => {
    const holder = await given().runningJob({ key: 'k' })
    const [second, third] = [await given().pendingJob({ key: 'k' }), await given().pendingJob({ key: 'k' })]
    await claimIds()
    await complete(holder)

    await ask(db.pool, 'select holdfast.cancel_job($1)', [second])

    expect(await claimIds()).toEqual([third])
  })
})

describe('the fence of a key', () => {
  test('the token grows over the jobs of a key', async () => {
    const tokens: number[] = []
    for (let i = 0; i < 3; i += 1) {
      const lease = await given().runningJob({ key: 'k' })
      tokens.push(Number(lease.token))
      await complete(lease)
    }

    expect(tokens).toEqual([1, 2, 3])
  })

  test('the key row names the holder, its token and since when it is current', async () => {
    const lease = await given().runningJob({ key: 'k' })

    expect(
      await askRow(
        db.admin,
        'select k.holder, k.token, k.current_job, k.current_since = l.locked_at as since from holdfast.job_key as k, holdfast.lease as l',
      ),
    ).toEqual({ holder: lease.job_id, token: lease.token, current_job: lease.job_id, since: true })
  })
})

describe('beside others', () => {
  test('a key row held by an open transaction is skipped without waiting, and its jobs stay unparked', async () => {
    await complete(await given().runningJob({ key: 'k' }))
    const id = await given().pendingJob({ key: 'k' })
    const [other, client] = [await db.connect('admin'), await db.connect()]
    await refuseToWait(client)
    await other.query('begin')
    await other.query(`select from holdfast.job_key where key = 'k' for update`)

    expect(await claimIds(client)).toEqual([])
    await other.query('rollback')

    expect(await parked(id)).toBe(false)
    expect(await claimIds(client)).toEqual([id])
  })

  test('a key row that another open claim is just making is skipped without waiting', async () => {
    const first = await given().pendingJob({ key: 'new' })
    const second = await given().pendingJob({ key: 'new' })
    const [one, two] = [await db.connect(), await db.connect()]
    await refuseToWait(two)
    await one.query('begin')

    expect(await askValue(one, 'select holdfast.claim_job($1, $2)', [first, 'w1'])).toBe(true)
    expect(await claimIds(two)).toEqual([])
    await one.query('commit')

    expect(await claimIds(two)).toEqual([])
    expect(await parked(second)).toBe(true)
  })

  test('two open transactions that enqueue the same exclusive key do not wait for each other', async () => {
    const [one, two] = [await db.connect(), await db.connect()]
    await refuseToWait(two)
    await one.query('begin')
    const first = await givenIn(one).pendingJob({ key: 'k' })

    const second = await givenIn(two).pendingJob({ key: 'k' })
    await one.query('commit')

    expect(await claimIds()).toEqual([first])
    expect(await parked(second)).toBe(true)
  })

  test('a completion waits for a claim that is parking behind it and then lets the parked job out', async () => {
    const holder = await given().runningJob({ key: 'k' })
    const next = await given().pendingJob({ key: 'k' })
    const [claimer, worker] = [await db.connect(), await db.connect()]
    const pid = await pidOf(worker)
    await claimer.query('begin')
    expect(await claimIds(claimer)).toEqual([])

    const completion = ask(worker, 'select settled from holdfast.complete_jobs($1)', [settlement(holder)])
    await waitUntilBlocked(db.admin, pid)
    await claimer.query('commit')

    expect(await completion).toEqual([{ settled: true }])
    expect(await claimIds()).toEqual([next])
  })

  test('many claims on three hot keys never run two jobs of a key at once, and all jobs end', async () => {
    for (let i = 0; i < 60; i += 1) await given().pendingJob({ key: `k${i % 3}` })

    const workOff = async (worker: string) => {
      for (let idle = 0; idle < 20; ) {
        const leases = await ask<Lease>(
          db.pool,
          `select id as job_id, token, lease_id from holdfast.claim_jobs($1, '{default}', '{task}', 4)`,
          [worker],
        )
        idle = leases.length === 0 ? idle + 1 : 0
        for (const lease of leases) expect(await complete(lease)).toMatchObject([{ settled: true }])
      }
    }
    await Promise.all(['w1', 'w2', 'w3', 'w4', 'w5', 'w6'].map(workOff))
    await workOff('last')

    expect(await askValue(db.admin, `select count(*)::int from holdfast.outcome where state = 'completed'`)).toBe(60)
    expect(await askList(db.admin, 'select token from holdfast.job_key')).toEqual(['20', '20', '20'])
  })
})

test('jobs of one key with different policies: one runs at a time and none is lost', async () => {
  const policies = ['exclusive', 'coalesce', 'supersede'] as const
  for (const key_policy of policies) await given().pendingJob({ key: 'k', key_policy })

  const claimed = await claimIds()

  expect(claimed).toHaveLength(1)
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.lease')).toBe(1)
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.ready')).toBe(2)
})

test('more keys than one claim makes rows for are all served by further claims', async () => {
  await ask(
    db.pool,
    `select holdfast.enqueue_jobs(
       (select jsonb_agg(jsonb_build_object('type', 'task', 'key', 'k' || g)) from generate_series(1, 450) as g))`,
  )

  const claimed = [await claimIds(db.pool, 1000), await claimIds(db.pool, 1000), await claimIds(db.pool, 1000)].flat()

  expect(new Set(claimed).size).toBe(450)
})

test('a backlog behind a key that an open transaction has locked does not keep others from being claimed', async () => {
  const holder = await given().runningJob({ key: 'k' })
  await ask(db.pool, `select count(*) from holdfast.enqueue_jobs($1, '{"type": "task", "key": "k"}')`, [
    JSON.stringify(Array.from({ length: 3000 }, () => ({}))),
  ])
  const other = await given().pendingJob()
  const user = await db.connect()
  await ask(user, 'begin')
  await ask(user, 'select holdfast.assert_lease($1, $2, $3)', [holder.job_id, holder.token, holder.lease_id])

  expect(await claimIds()).toEqual([other])
  await ask(user, 'commit')
})
