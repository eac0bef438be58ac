// The meetings of three that have broken queues before, in every order of their operations and commits.
import { describe, test } from 'vitest'
import * as operations from './operations.js'
import type { Scenario } from './race.js'
import { useRace } from './use-race.js'

const { claim, claimFirst, claimSecond, complete, completeStale, fail, release, renew, renewStale } = operations
const { cancelFirst, cancelSecond, retryFirst, recover, reap, enqueue } = operations
const race = useRace()

const onTwoJobs = (start: operations.Start, trio: operations.Operation[]) =>
  ({ start, jobs: 2, operations: trio }) as const
const TRIPLES: [string, Omit<Scenario, 'policy'>, operations.Policy[]][] = [
  [
    'two claims beside a completion',
    onTwoJobs('lost', [claim, claimSecond, complete]),
    ['exclusive', 'supersede', 'coalesce'],
  ],
  [
    'two claims of a fresh key and a cancellation',
    onTwoJobs('pending', [claimFirst, claimSecond, cancelFirst]),
    ['exclusive', 'supersede'],
  ],
  [
    'a claim, a cancellation and the reaper',
    onTwoJobs('lost', [claim, cancelFirst, reap]),
    ['exclusive', 'supersede', 'coalesce'],
  ],
  [
    'a claim, a completion and a cancellation of the holder',
    onTwoJobs('lost', [claim, complete, cancelFirst]),
    ['exclusive', 'supersede'],
  ],
  ['a take-over, a completion and a renewal', onTwoJobs('lost', [claim, complete, renew]), ['supersede', 'exclusive']],
  ['a failure, an enqueue and a claim', onTwoJobs('lost', [fail, enqueue, claim]), ['coalesce', 'exclusive']],
  [
    'a completion, an enqueue and a claim where one waits parked',
    onTwoJobs('parked', [complete, enqueue, claim]),
    ['coalesce', 'exclusive'],
  ],
  [
    'the reaper, a late completion and a claim',
    onTwoJobs('lost', [reap, complete, claim]),
    ['exclusive', 'supersede', 'coalesce'],
  ],
  ['a recovery, a completion and a claim', onTwoJobs('parked', [recover, complete, claim]), ['exclusive', 'coalesce']],
  [
    'a retry beside a claim and a completion',
    onTwoJobs('finished', [retryFirst, claim, complete]),
    ['exclusive', 'supersede', 'coalesce'],
  ],
  ['two cancellations and a claim', onTwoJobs('parked', [cancelFirst, cancelSecond, claim]), ['exclusive', 'coalesce']],
  ['two reapers and a renewal', onTwoJobs('lost', [reap, reap, renew]), ['exclusive']],
  [
    'a stale completion, a stale renewal and a release',
    onTwoJobs('lost', [completeStale, renewStale, release]),
    ['exclusive'],
  ],
  ['two enqueues and a claim', onTwoJobs('pending', [enqueue, enqueue, claim]), ['coalesce']],
  ['two enqueues around a retry', onTwoJobs('finished', [enqueue, retryFirst, enqueue]), ['coalesce', 'supersede']],
  [
    'claims and a cancellation of a job without a key',
    { start: 'pending', jobs: 1, operations: [claim, claimFirst, cancelFirst] },
    [null],
  ],
  [
    'the reaper, a completion and a failure without a key',
    { start: 'lost', jobs: 1, operations: [reap, complete, fail] },
    [null],
  ],
]

describe.each(TRIPLES)('%s', (_what, scenario, policies) => {
  test.each(policies)('keep every promise, key policy: %s', async (policy) => {
    await race.expectSound([{ ...scenario, policy }])
  })
})

test('the triples were really played, and many of them met', () => {
  const scenarios = TRIPLES.reduce((total, [, , policies]) => total + policies.length, 0)
  race.expectPlayed({ permutations: 90 * scenarios, waits: 90 * scenarios * 0.3 }, 'triples')
})
