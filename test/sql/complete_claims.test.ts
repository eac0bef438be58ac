// complete_claims: a claim at a time, and what is not plain among its jobs is left to complete_leases.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../support/ask.js'
import { givenIn, type Lease, settlement } from '../support/given.js'
import { useDatabase } from '../support/use-database.js'

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
const complete = (...claims: Claim[]) =>
  askValue<number[]>(db.pool, 'select holdfast.complete_claims_v1($1, $2, $3, $4)', [
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

test('the jobs of two claims are completed, and keep what a completion keeps', async () => {
  const [one, two] = [await claimed(3), await claimed(2)]

  expect(await complete(one, two)).toEqual([])

  expect(await states([...one.ids, ...two.ids])).toEqual(Array(5).fill('completed'))
  expect(
    await askRow(
      db.admin,
      'select state, output, attempts, token, lease_id, locked_by from holdfast.outcome where job_id = $1',
      [two.ids[0]],
    ),
  ).toEqual({ state: 'completed', output: null, attempts: 1, token: '1', lease_id: two.lease_id, locked_by: 'w' })
  expect(await ask(db.admin, 'select * from holdfast.lease')).toEqual([])
  await sound()
})

test('no claim at all has an empty answer', async () => {
  expect(await complete()).toEqual([])
})

test.each([
  ['token', (claim: Claim) => ({ ...claim, token: '2' })],
  ['lease id', (claim: Claim) => ({ ...claim, lease_id: randomUUID() })],
])('a %s that is not the present one loses the jobs of its claim, and no others', async (_, forge) => {
  const [one, two, three] = [await claimed(1), await claimed(2), await claimed(1)]

  expect(await complete(one, forge(two), three)).toEqual([2, 3])

  expect(await states([...one.ids, ...two.ids, ...three.ids])).toEqual(['completed', 'running', 'running', 'completed'])
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

test('each lost job is told by its own place', async () => {
  const claim = await claimed(5)
  await ask(db.pool, 'select holdfast.cancel_job($1)', [claim.ids[1]])
  await ask(db.pool, 'select holdfast.cancel_job($1)', [claim.ids[3]])
  const other = await claimed(1)

  expect(await complete(other, claim)).toEqual([3, 5])
  expect(await states(claim.ids)).toEqual(['completed', 'cancelled', 'completed', 'cancelled', 'completed'])
})

test('a keyed job among them is completed as well, and its key is free', async () => {
  const plain = await claimed(1)
  const keyed = await given().runningJob({ key: 'k' })
  const next = await given().pendingJob({ key: 'k' })

  expect(await complete(plain, claimOf(keyed))).toEqual([])

  expect(await states([...plain.ids, keyed.job_id])).toEqual(['completed', 'completed'])
  expect(await given().claimed(next)).toMatchObject({ job_id: next })
  await sound()
})

test('repeating it after a lost answer settles again and changes nothing', async () => {
  const claim = await claimed(3)
  await complete(claim)

  expect(await complete(claim)).toEqual([])
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.outcome')).toBe(3)
})

test('a member without an id is lost, and its neighbour is completed', async () => {
  const { ids, ...claim } = await claimed(1)

  expect(await complete({ ...claim, ids: [...ids, null as unknown as string] })).toEqual([2])
  expect(await states(ids)).toEqual(['completed'])
})

test('a job named twice is completed once', async () => {
  const { ids, ...claim } = await claimed(1)

  expect(await complete({ ...claim, ids: [...ids, ...ids] })).toEqual([])
  expect(await askList(db.admin, 'select job_id from holdfast.outcome')).toEqual(ids)
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
