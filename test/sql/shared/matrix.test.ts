// Every state × every operation, generated from the transition table: where it leads or how it is refused.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ERRORS } from '../../../src/domain/error/errors.js'
import { JOB_STATES } from '../../../src/domain/job/job.js'
import { allowed, OPERATIONS, type Operation, type Origin, refusalOf } from '../../../src/domain/job/transitions.js'
import { ask, askList, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { type FinalState, givenIn, type JobWish, type Lease, settlement } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

const ORIGINS = ['none', ...JOB_STATES] as const satisfies Origin[]

// The lease that made such an end may report it again, after a lost answer; what is refused is anyone else's report.
const REPEATED: Partial<Record<Origin, Operation>> = { completed: 'complete', failed: 'fail' }

const NEWEST_WINS = { key: 'matrix', key_policy: 'supersede' }

describe.each(ORIGINS)('a job that is %s', (state) => {
  const operations = OPERATIONS.filter((operation) => operation !== 'enqueue').map((operation) => ({
    operation,
    end: described(state, operation),
  }))

  test.each(operations)('$operation: $end', async ({ operation }) => {
    const targets = allowed(state, operation)
    const job = await jobIn(state, operation)
    if (REPEATED[state] === operation) job.lease_id = randomUUID()

    if (targets === undefined) {
      expect(await attempt(operation, job)).toEqual({ done: false, refusal: refusalOf(state, operation) })
      expect(await stateOf(job)).toBe(state)
      return
    }
    const reached: string[] = []
    for (const target of targets) {
      const subject = reached.length === 0 ? job : await another(state, operation, target)
      const doing =
        target === 'waiting' ? retryPipeline(subject) : attempt(operation, subject, { permanent: target === 'failed' })
      expect(await doing).toEqual({ done: true, refusal: null })
      reached.push(await stateOf(subject))
    }
    expect(reached).toEqual(targets)
  })
})

test('enqueue: none leads to pending, or to waiting behind others', async () => {
  const jobs = [await jobIn('pending', 'enqueue'), await jobIn('waiting', 'enqueue')]

  expect([await stateOf(jobs[0] as Lease), await stateOf(jobs[1] as Lease)]).toEqual(allowed('none', 'enqueue'))
})

function described(state: Origin, operation: Operation): string {
  const targets = allowed(state, operation)
  if (targets !== undefined) return `leads to ${targets.join(' or ')}`
  return `is refused ${refusalOf(state, operation) === null ? 'without an error' : `with ${refusalOf(state, operation)}`}`
}

async function jobIn(state: (typeof ORIGINS)[number], operation: Operation, more: JobWish = {}): Promise<Lease> {
  const given = givenIn(db.pool)
  const wish = operation === 'supersede' ? { ...NEWEST_WINS, ...more } : more
  switch (state) {
    case 'none':
      return { job_id: '999999999', token: '1', lease_id: randomUUID() }
    case 'pending':
      return { job_id: await given.pendingJob(wish), token: '0', lease_id: randomUUID() }
    case 'waiting':
      return { job_id: await waitingJob(wish), token: '0', lease_id: randomUUID() }
    case 'running':
      return given.runningJob(wish)
    default:
      return given.finishedJob(state satisfies FinalState, wish)
  }
}

/** Of the states that a operation can lead to, the second one is reached from a job of another kind. */
async function another(state: (typeof ORIGINS)[number], operation: Operation, target: string): Promise<Lease> {
  if (target !== 'waiting') return jobIn(state, operation, { max_attempts: 1 })
  const job_id = await waitingJob({})
  const [dependency] = await dependenciesOf(job_id)
  await ask(db.pool, 'select holdfast.cancel_job($1)', [dependency])
  return { job_id, token: '0', lease_id: randomUUID() }
}

async function waitingJob(wish: JobWish): Promise<string> {
  const { id } = await enqueuePipeline(db.pool, [{ name: 'first' }, { name: 'second', ...wish, after: ['first'] }])
  return stepsOf(db.pool, db.admin, id).jobOf('second')
}

function dependenciesOf(job_id: string): Promise<string[]> {
  return askList<string>(db.admin, 'select depends_on from holdfast.dependency where job_id = $1', [job_id])
}

function retryPipeline(job: Lease): Promise<Answer> {
  return byHand('select holdfast.retry_pipeline(j.pipeline_id) from holdfast.find_job($1) as j', job)
}

async function stateOf({ job_id }: Lease): Promise<string> {
  return (await askList<string | null>(db.admin, 'select holdfast.state_of($1)', [job_id]))[0] ?? 'none'
}

interface Answer {
  done: boolean
  refusal: string | null
}

function attempt(operation: Operation, job: Lease, more: object = {}): Promise<Answer> {
  switch (operation) {
    case 'claim':
      return askValue<boolean>(db.pool, 'select holdfast.claim_job($1, $2)', [job.job_id, 'w']).then((done) => ({
        done,
        refusal: null,
      }))
    case 'renew':
      return byLease('select renewed as done, code as refusal from holdfast.renew_leases($1)', job)
    case 'complete':
    case 'fail':
    case 'snooze':
    case 'release':
      return byLease(`select settled as done, code as refusal from holdfast.${operation}_jobs($1)`, { ...job, ...more })
    case 'suspend':
      return byLease('select settled as done, code as refusal from holdfast.suspend_jobs($1)', {
        ...job,
        waits: [{ kind: 'sleep', name: 'nap', delay_ms: 1000 }],
      })
    case 'cancel':
    case 'retry':
      return byHand(`select holdfast.${operation}_job($1)`, job)
    case 'recover':
      return byHand(`select holdfast.recover_job($1, '-1 second')`, job)
    case 'unblock':
      return fromOutside(job, async () => {
        for (const id of await dependenciesOf(job.job_id)) {
          await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [
            settlement(await givenIn(db.pool).claimed(id)),
          ])
        }
      })
    case 'reap':
      return fromOutside(job, reap)
    case 'supersede':
      return fromOutside(job, async () => void (await givenIn(db.pool).runningJob(NEWEST_WINS)))
    default:
      throw new Error(`the matrix does not know how to ${operation} a job: add it`)
  }
}

// What comes over a job from outside refuses nothing: it happens to the job or it does not.
async function fromOutside(job: Lease, operation: () => Promise<void>): Promise<Answer> {
  const before = await stateOf(job)
  await operation()
  return { done: (await stateOf(job)) !== before, refusal: null }
}

async function reap(): Promise<void> {
  const session = await db.connect()
  await setClock(session, '2199-01-01T00:00:00Z')
  await ask(session, 'select * from holdfast.reap_leases()')
}

async function byLease(call: string, job: object): Promise<Answer> {
  const [answer] = await ask<Answer & { [column: string]: unknown }>(db.pool, call, [settlement(job)])
  return { done: answer?.done === true, refusal: answer?.refusal ?? null }
}

async function byHand(call: string, { job_id }: Lease): Promise<Answer> {
  try {
    await ask(db.pool, call, [job_id])
    return { done: true, refusal: null }
  } catch (error) {
    const { code } = error as { code: string }
    const known = Object.entries(ERRORS).find(([, { sqlstate }]) => sqlstate === code)
    return { done: false, refusal: known?.[0] ?? code }
  }
}
