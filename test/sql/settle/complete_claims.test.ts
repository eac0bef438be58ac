// complete_claims: a claim at a time, and what is not plain among its jobs is left to complete_leases.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue, type Session } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { givenIn, type Lease, settlement } from '../../support/given.js'
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

const claimOf = ({ job_id, token, lease_id }: Lease): Claim => ({ ids: [job_id], token, lease_id })

/** The places of the members that were lost. */
const complete = (...claims: Claim[]) => completeIn(db.pool, ...claims)
const completeIn = (session: Session, ...claims: Claim[]) =>
  askValue<number[]>(session, 'select holdfast.complete_claims_v1($1, $2, $3, $4)', [
    claims.flatMap(({ ids }) => ids),
    claims.map(({ ids }) => ids.length),
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

// From 20 jobs of a claim on they are ended together, or not at all and then one by one.
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

    expect(await complete(one, forge(two), three)).toEqual(two.ids.map((_id, i) => i + 2))

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
  expect(await complete(claimOf(stale), { ...again, ids: [other] })).toEqual([1])
  expect(await states([stale.job_id, other])).toEqual(['running', 'completed'])
})

test.each([5, 50])('each lost job of %i is told by its own place', async (n) => {
  const claim = await claimed(n)
  await ask(db.pool, 'select holdfast.cancel_job($1)', [claim.ids[1]])
  await ask(db.pool, 'select holdfast.cancel_job($1)', [claim.ids[3]])
  const other = await claimed(1)

  expect(await complete(other, claim)).toEqual([3, 5])
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

  expect(await completing).toEqual([8])
  expect(await states(claim.ids)).toEqual(claim.ids.map((_id, i) => (i === 7 ? 'cancelled' : 'completed')))
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.outcome')).toBe(30)
  await sound()
})

test.each(FEW_AND_MANY)('a keyed job among %i is completed as well, and its key is free', async (n) => {
  const plain = await claimed(n)
  const keyed = await given().runningJob({ key: 'k' })
  const next = await given().pendingJob({ key: 'k' })

  expect(await complete(plain, claimOf(keyed))).toEqual([])

  expect(await states([...plain.ids, keyed.job_id])).toEqual(Array(n + 1).fill('completed'))
  expect(await given().claimed(next)).toMatchObject({ job_id: next })
  await sound()
})

test.each(FEW_AND_MANY)('repeating it for %i after a lost answer settles again and changes nothing', async (n) => {
  const claim = await claimed(n)
  await complete(claim)

  expect(await complete(claim)).toEqual([])
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.outcome')).toBe(n)
})

test.each(FEW_AND_MANY)('a member without an id is lost, and its %i neighbours are completed', async (n) => {
  const { ids, ...claim } = await claimed(n)

  expect(await complete({ ...claim, ids: [...ids, null as unknown as string] })).toEqual([n + 1])
  expect(await states(ids)).toEqual(Array(n).fill('completed'))
})

test.each(FEW_AND_MANY)('%i jobs named twice are completed once', async (n) => {
  const { ids, ...claim } = await claimed(n)

  expect(await complete({ ...claim, ids: [...ids, ...ids] })).toEqual([])
  expect(await askList(db.admin, 'select job_id from holdfast.outcome order by job_id')).toEqual(ids)
})

test.each([
  ['fewer than the jobs', [1], ['1'], 1],
  ['more than the jobs', [3], ['1'], 1],
  ['with a zero', [2, 0], ['1', '1'], 2],
  ['with null', [2, null], ['1', '1'], 2],
  ['without a token each', [1, 1], ['1'], 2],
  ['without a lease id each', [1, 1], ['1', '1'], 1],
])('counts %s are refused, and nothing is completed', async (_, counts, tokens, leases) => {
  const { ids, lease_id } = await claimed(2)

  await expect(
    ask(db.pool, 'select holdfast.complete_claims_v1($1, $2, $3, $4)', [
      ids,
      counts,
      tokens,
      Array(leases).fill(lease_id),
    ]),
  ).rejects.toThrow(/^INVALID_OPTION/)
  expect(await states(ids)).toEqual(['running', 'running'])
})
