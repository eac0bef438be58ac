// Every pair of transitions on two jobs of one key, in every order of their operations and commits.
import { describe, test } from 'vitest'
import * as operations from './operations.js'
import { pairs, pairsWithRollback, useRace } from './use-race.js'

const { claim, claimFirst, claimSecond, complete, completeStale, fail, renew } = operations
const { cancelFirst, cancelSecond, retryFirst, recover, reap, enqueue } = operations
const onHolder = [complete, completeStale, fail, renew, cancelFirst, recover, reap]

/** What makes sense where: the lease that is presented is the one of the job that runs. */
const POSSIBLE: Record<operations.Start, readonly operations.Operation[]> = {
  pending: [claim, claimFirst, claimSecond, cancelFirst, cancelSecond, enqueue],
  lost: [claim, claimSecond, cancelSecond, enqueue, ...onHolder],
  parked: [claim, claimSecond, cancelSecond, enqueue, ...onHolder],
  finished: [claim, complete, fail, renew, cancelSecond, retryFirst, recover, reap, enqueue],
}
const race = useRace()

describe.each(['exclusive', 'supersede', 'coalesce'] as const)('%s key', (policy) => {
  // Nothing parks behind a supersede key: the newest takes over.
  const starts = (['pending', 'lost', 'parked', 'finished'] as const).filter(
    (start) => start !== 'parked' || policy !== 'supersede',
  )
  test.each(starts)('no pair of transitions breaks a promise, from: %s', async (start) => {
    await race.expectSound(pairs(start, policy, 2, POSSIBLE[start]))
  })

  const start = policy === 'supersede' ? 'lost' : 'parked'
  test('nor does one of which the first is rolled back', async () => {
    await race.expectSound(pairsWithRollback(start, policy, 2, POSSIBLE[start]))
  })
})

test('the pairs were really played, and many of them met', () => {
  race.expectPlayed({ permutations: 3894, waits: 1000 }, 'pairs on one key')
})
