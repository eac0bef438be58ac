// Every pair of transitions on one job, without a key and alone with its key, in every order of their operations and commits.
import { describe, test } from 'vitest'
import * as operations from './operations.js'
import { pairs, useRace } from './use-race.js'

const { claim, claimFirst, complete, completeStale, completeInOwnTransaction, fail, failStale, release } = operations
const { completePlainJob, completePlainStale, renew, renewStale, renewWorker, cancelFirst, retryFirst, recover, reap } =
  operations

const POSSIBLE = {
  pending: [claim, claimFirst, cancelFirst, retryFirst],
  lost: [
    ...[claim, claimFirst, complete, completeStale, completeInOwnTransaction, fail, failStale, release, renew],
    ...[completePlainJob, completePlainStale, renewStale, renewWorker, cancelFirst, retryFirst, recover, reap],
  ],
  finished: [claim, claimFirst, completeStale, failStale, renewStale, cancelFirst, retryFirst],
} satisfies Partial<Record<operations.Start, readonly operations.Operation[]>>
const race = useRace()

describe.each([null, 'exclusive', 'supersede'] as const)('key policy: %s', (policy) => {
  test.each(['pending', 'lost', 'finished'] as const)(
    'no pair of transitions breaks a promise, from: %s',
    async (start) => {
      await race.expectSound(pairs(start, policy, 1, POSSIBLE[start]))
    },
  )
})

test('the pairs were really played, and many of them met', () => {
  race.expectPlayed({ permutations: 3 * 6 * (10 + 153 + 28), waits: 450 }, 'pairs on one job')
})
