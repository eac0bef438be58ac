// complete_plain_jobs: a claim at a time; what is not plain among its jobs, or not held, is left to settle_jobs.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)

interface Claim {
  readonly ids: string[]
  readonly token: string
  readonly lease_id: string
}

/** New jobs, and pending ones if asked for more, claimed in one call. */
async function claimed(jobs: number, n = jobs): Promise<Claim> {
  for (let i = 0; i < jobs; i += 1) await given().pendingJob()
  const leases = await ask<Lease>(
    db.pool,
    `select id as job_id, token, lease_id from holdfast.claim_jobs('w', '{default}', '{task}', $1)`,
    [n],
  )
  const { token, lease_id } = leases[0] as Lease
  return { ids: leases.map(({ job_id }) => job_id), token, lease_id }
}

const endsOf = (claims: Claim[]) => claims.map((_, i) => claims.slice(0, i + 1).flatMap(({ ids }) => ids).length)
const claimOf = ({ job_id, token, lease_id }: Lease): Claim => ({ ids: [job_id], token, lease_id })

/** The jobs that were not settled. */
const complete = (...claims: Claim[]) => completeIn(db.pool, ...claims)
const completeIn = (session: Session, ...claims: Claim[]) =>
  askValue<string[]>(session, 'select holdfast.complete_plain_jobs_v1($1, $2, $3, $4)', [
    claims.flatMap(({ ids }) => ids),
    endsOf(claims),
    claims.map(({ token }) => token),
    claims.map(({ lease_id }) => lease_id),
  ])
const states = (ids: readonly string[]) =>
  askList<string>(
    db.admin,
    'select holdfast.state_of(i.id) from unnest($1::bigint[]) with ordinality as i(id, place) order by i.place',
    [ids],
  )
const sound = async () => expect(await ask(db.admin, 'select * from holdfast.check_places()')).toEqual([])

const FEW_AND_MANY = [3, 30]

test.each(FEW_AND_MANY)(
  'the jobs of two claims, %i of each, are completed, and keep what a completion keeps',
  async (n) => {
    const [one, two] = [await claimed(n), await claimed(n)]

    expect(await complete(one, two)).toEqual([])

    expect(await states([...one.ids, ...two.ids])).toEqual(Array(2 * n).fill('completed'))
    expect(
      await askRow(
        db.admin,
        'select state, output, attempts, token, lease_id, locked_by from holdfast.outcome where job_id = $1',
        [two.ids[0]],
      ),
    ).toEqual({ state: 'completed', output: null, attempts: 1, token: '1', lease_id: two.lease_id, locked_by: 'w' })
    expect(await ask(db.admin, 'select * from holdfast.lease')).toEqual([])
    await sound()
  },
)

test('no claim at all has an empty answer', async () => {
  expect(await complete()).toEqual([])
})

test.each([
  ['token', (claim: Claim) => ({ ...claim, token: '2' })],
  ['lease id', (claim: Claim) => ({ ...claim, lease_id: randomUUID() })],
])('a %s that is not the present one loses the jobs of its claim, and no others', async (_, forge) => {
  for (const n of FEW_AND_MANY) {
    const [one, two, three] = [await claimed(1), await claimed(n), await claimed(1)]

    expect(await complete(one, forge(two), three)).toEqual(two.ids)

    expect(await states([...one.ids, ...three.ids])).toEqual(['completed', 'completed'])
    expect(await states(two.ids)).toEqual(Array(n).fill('running'))
  }
})

test('a job that is held again under the lease of another claim of the batch is lost to its former claim', async () => {
  const stale = await given().runningJob()
  await ask(db.pool, 'select * from holdfast.release_jobs($1)', [settlement(stale)])
  await ask(db.admin, 'update holdfast.ready set token = 0, attempts = 0')
  const other = await given().pendingJob()
  const again = await claimed(0, 2)

  expect(again.ids.sort()).toEqual([stale.job_id, other].sort())
  expect(await complete(claimOf(stale), { ...again, ids: [other] })).toEqual([stale.job_id])
  expect(await states([stale.job_id, other])).toEqual(['running', 'completed'])
})

test.each([5, 50])('each lost job of %i is named', async (n) => {
  const claim = await claimed(n)
  await ask(db.pool, 'select holdfast.cancel_job($1)', [claim.ids[1]])
  await ask(db.pool, 'select holdfast.cancel_job($1)', [claim.ids[3]])
  const other = await claimed(1)

  expect(await complete(other, claim)).toEqual([claim.ids[1], claim.ids[3]])
  expect(await states(claim.ids)).toEqual(claim.ids.map((_id, i) => (i === 1 || i === 3 ? 'cancelled' : 'completed')))
  await sound()
})

test('a job that another ends while its neighbours are being completed is lost, and they are completed once', async () => {
  const claim = await claimed(30)
  const [canceller, completer] = [await db.connect(), await db.connect()]
  const pid = await pidOf(completer)
  await canceller.query('begin')
  await ask(canceller, 'select holdfast.cancel_job($1)', [claim.ids[7]])

  const completing = completeIn(completer, claim)
  await waitUntilBlocked(db.admin, pid)
  await canceller.query('commit')

  expect(await completing).toEqual([claim.ids[7]])
  expect(await states(claim.ids)).toEqual(claim.ids.map((_id, i) => (i === 7 ? 'cancelled' : 'completed')))
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.outcome')).toBe(30)
  await sound()
})

test.each(FEW_AND_MANY)('a keyed job and a step of a pipeline among %i are left alone', async (n) => {
  const plain = await claimed(n)
  const keyed = await given().runningJob({ key: 'k' })
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }])
  const step = await stepsOf(db.pool, db.admin, id).leaseOf('a')

  expect(await complete(plain, claimOf(keyed), claimOf(step))).toEqual([keyed.job_id, step.job_id])

  expect(await states([...plain.ids, keyed.job_id, step.job_id])).toEqual([
    ...Array(n).fill('completed'),
    'running',
    'running',
  ])
  await sound()
})

test.each(FEW_AND_MANY)('repeating it for %i changes nothing, and leaves the answer to settle_jobs', async (n) => {
  const claim = await claimed(n)
  await complete(claim)

  expect(await complete(claim)).toEqual(claim.ids)
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.outcome')).toBe(n)
})

test('each output is kept by its own job', async () => {
  const { ids, token, lease_id } = await claimed(3)
  const outputs = { [String(ids[0])]: { rows: 7 }, [String(ids[2])]: null }

  await ask(db.pool, 'select holdfast.complete_plain_jobs_v1($1, $2, $3, $4, $5)', [
    ids,
    [3],
    [token],
    [lease_id],
    JSON.stringify(outputs),
  ])

  expect(await askList(db.admin, 'select output from holdfast.outcome order by job_id')).toEqual([
    { rows: 7 },
    null,
    null,
  ])
})

test.each(FEW_AND_MANY)('a member without an id is not settled, and its %i neighbours are completed', async (n) => {
  const { ids, ...claim } = await claimed(n)

  expect(await complete({ ...claim, ids: [...ids, null as unknown as string] })).toEqual([null])
  expect(await states(ids)).toEqual(Array(n).fill('completed'))
})

test.each(FEW_AND_MANY)('%i jobs named twice are completed once', async (n) => {
  const { ids, ...claim } = await claimed(n)

  expect(await complete({ ...claim, ids: [...ids, ...ids] })).toEqual([])
  expect(await askList(db.admin, 'select job_id from holdfast.outcome order by job_id')).toEqual(ids)
})

test('the same lease named twice completes its jobs once', async () => {
  const claim = await claimed(2)

  expect(await complete(claim, claim)).toEqual([])
  expect(await askList(db.admin, 'select job_id from holdfast.outcome order by job_id')).toEqual(claim.ids)
})

test.each([
  ['end too early', [1], 1],
  ['have no lease id', [1, 2], 1],
])('jobs whose claims %s are not settled', async (_, ends, leases) => {
  const { ids, token, lease_id } = await claimed(2)

  const unsettled = await askValue<string[]>(db.pool, 'select holdfast.complete_plain_jobs_v1($1, $2, $3, $4)', [
    ids,
    ends,
    ends.map(() => token),
    Array(leases).fill(lease_id),
  ])

  expect(unsettled).toEqual([ids[1]])
  expect(await states(ids)).toEqual(['completed', 'running'])
})
