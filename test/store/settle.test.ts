// completePlainJobs: however claims are mixed in a batch, each member gets its own verdict.
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { ClaimedJob } from '../../src/domain/job/job.js'
import {
  cancelled,
  completed,
  failed,
  type Outcome,
  released,
  snoozed,
  suspended,
} from '../../src/domain/run/outcome.js'
import { claimBatch, QUEUE_START } from '../../src/store/jobs/claim.js'
import { completePlainJobs, type Settlement, settleJobs } from '../../src/store/jobs/settle.js'
import { Store } from '../../src/store/store.js'
import { ask } from '../support/ask.js'
import { givenIn } from '../support/given.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const NOTHING = 'null'

function opened(): Store {
  const store = new Store({ database: db.pool, migrate: false })
  onTestFinished(() => store.close())
  return store
}

/** New jobs, claimed together. */
async function claimed(store: Store, jobs: number, wish: { key?: string } = {}): Promise<ClaimedJob[]> {
  for (let i = 0; i < jobs; i += 1) await givenIn(db.pool).pendingJob(wish)
  const claim = { worker: 'w', queue: 'default', types: ['task'], n: jobs, from: QUEUE_START, leaseId: randomUUID() }
  return (await claimBatch(store, claim)).jobs
}

const outcomes = () =>
  ask(db.admin, `select job_id, output from holdfast.outcome where state = 'completed' order by job_id`)

test.each([1, 8, 9])('of %i claims with two jobs each all are completed but the one that was lost', async (claims) => {
  const store = opened()
  const jobs: ClaimedJob[] = []
  for (let i = 0; i < claims; i += 1) jobs.push(...(await claimed(store, 2)))
  await ask(db.pool, 'select holdfast.cancel_job($1)', [jobs[1]?.id])

  const verdicts = await completePlainJobs(
    store,
    jobs.map((job) => ({ job, outcome: completed(NOTHING) })),
  )

  expect(verdicts).toEqual(jobs.map((_, i) => i !== 1))
  expect(await outcomes()).toEqual(jobs.filter((_, i) => i !== 1).map(({ id }) => ({ job_id: id, output: null })))
})

test('the jobs of two claims may be mixed', async () => {
  const store = opened()
  const [one, two] = [await claimed(store, 2), await claimed(store, 2)]
  const mixed = [one[0], two[0], one[1], two[1]] as ClaimedJob[]

  expect(
    await completePlainJobs(
      store,
      mixed.map((job) => ({ job, outcome: completed(NOTHING) })),
    ),
  ).toEqual([true, true, true, true])
  expect(await outcomes()).toHaveLength(4)
})

test('an output in the middle is kept by its own job', async () => {
  const store = opened()
  const jobs = await claimed(store, 3)

  const verdicts = await completePlainJobs(
    store,
    jobs.map((job, i) => ({ job, outcome: completed(i === 1 ? '{"rows":7}' : NOTHING) })),
  )

  expect(verdicts).toEqual([true, true, true])
  expect(await outcomes()).toEqual(jobs.map(({ id }, i) => ({ job_id: id, output: i === 1 ? { rows: 7 } : null })))
})

test('keyed jobs are left to settleJobs, which frees their keys', async () => {
  const store = opened()
  const jobs = [...(await claimed(store, 1)), ...(await claimed(store, 1, { key: 'k' }))]
  const batch = jobs.map((job) => ({ job, outcome: completed(NOTHING) }))
  const receiver = { worker: 'w', types: [], slots: new Map(), take() {} }

  expect(await completePlainJobs(store, batch)).toEqual([true, false])
  expect(await settleJobs(store, batch, receiver)).toEqual([true, true])
  expect(await claimed(store, 1, { key: 'k' })).toHaveLength(1)
})

test('outcomes of every kind go in one call, each with its own verdict', async () => {
  const store = opened()
  const jobs = await claimed(store, 8)
  const [done, broken, later, asleep, stopped, back, stale] = jobs as [ClaimedJob, ...ClaimedJob[]] as ClaimedJob[]
  const failure = { name: 'Error', message: 'broken' }
  const lease = { ...(stale as ClaimedJob), token: '99' }
  const batch = [
    { job: done, outcome: completed('{"rows":7}') },
    { job: broken, outcome: failed(failure, { kind: 'never' }) },
    { job: later, outcome: snoozed(60_000) },
    { job: asleep, outcome: suspended([{ kind: 'sleep', name: 'nap', delayMs: 60_000 }]) },
    { job: stopped, outcome: cancelled('not wanted') },
    { job: back, outcome: released() },
    { job: lease, outcome: released() },
  ] as Settlement<Outcome>[]

  const verdicts = await settleJobs(store, batch, { worker: 'w', types: [], slots: new Map(), take() {} })

  expect(verdicts).toEqual([true, true, true, true, true, true, false])
  const states = await ask(db.admin, 'select state, attempts from holdfast.jobs order by id')
  expect(states.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual([
    'completed 1',
    'failed 1',
    'pending 0',
    'pending 0',
    'cancelled 1',
    'pending 0',
    'running 1',
    'running 1',
  ])
})
