// claim_job under real concurrency: of those who race, exactly one is told true, the others false, nobody an error.
import { expect, test } from 'vitest'
import { ask, askValue } from '../support/ask.js'
import { givenIn } from '../support/given.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const ROUNDS = 100
const CANCEL_LIVING = `select holdfast.cancel_job(i) from unnest($1::bigint[]) as i where holdfast.state_of(i) in ('pending', 'running')`
const CLAIM = 'select holdfast.claim_job($1, $2)'

/** Answers of sessions that call at the same time, one for each id. */
async function raceFor(ids: readonly string[], sessions: Awaited<ReturnType<typeof db.connect>>[]): Promise<boolean[]> {
  return Promise.all(sessions.map((session, i) => askValue<boolean>(session, CLAIM, [ids[i % ids.length], `w${i}`])))
}

test.each([
  ['exclusive', {}],
  ['supersede', { key_policy: 'supersede' }],
])('two racers for two jobs of one %s key: one true, one false, 100 times', async (_policy, wish) => {
  const sessions = [await db.connect(), await db.connect()]
  const counts: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    // A key that is new to every other round: its row is made by one of the racers.
    const key = `k${Math.floor(round / 2)}`
    const ids = [
      await givenIn(db.pool).pendingJob({ key, ...wish }),
      await givenIn(db.pool).pendingJob({ key, ...wish }),
    ]
    counts.push((await raceFor(round % 3 === 0 ? ids.reverse() : ids, sessions)).filter(Boolean).length)
    await ask(db.admin, CANCEL_LIVING, [ids])
  }

  expect(counts).toEqual(Array(ROUNDS).fill(1))
})

test.each([
  ['without a key', {}],
  ['with an exclusive key', { key: 'k' }],
  ['with a supersede key', { key: 'k', key_policy: 'supersede' }],
  ['with a coalescing key', { key: 'k', key_policy: 'coalesce' }],
])('sixteen racers for one job %s: one true, 100 times', async (_kind, wish) => {
  const sessions = await Promise.all(Array.from({ length: 16 }, () => db.connect()))
  const counts: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = await givenIn(db.pool).pendingJob(wish)
    counts.push((await raceFor([id], sessions)).filter(Boolean).length)
    await ask(db.pool, 'select holdfast.cancel_job($1)', [id])
  }

  expect(counts).toEqual(Array(ROUNDS).fill(1))
})
