// Runs a job once without a crash, then once per operation with a crash right after it: the lease expires, is reaped, and the
// job runs again. The effects must be the same each time.

import { AssertionError } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { inspect, isDeepStrictEqual } from 'node:util'
import type { JobDefinition } from '../domain/job/definition.js'
import { isFinalState, type Job, type JobId, type JobState } from '../domain/job/job.js'
import type { BeginTransaction } from '../domain/run/context.js'
import type { Outcome } from '../domain/run/outcome.js'
import { SILENT } from '../observe/log.js'
import { claimOne } from '../store/jobs/claim.js'
import { findJob } from '../store/jobs/operator-calls.js'
import type { Store } from '../store/store.js'
import { leasedCalls } from '../worker/leased-calls.js'
import type { RunnableJob } from '../worker/registry.js'
import { startRun } from '../worker/run/runner.js'
import { reapAbandoned } from './abandoned-leases.js'
import { CrashPoints, countedOperations } from './crash-points.js'
import { allJobs } from './owner-reads.js'
import type { TestClock } from './test-clock.js'

export interface CrashOptions {
  /** Resets everything outside of Holdfast before each round: empties tables, empties an outbox. */
  readonly reset?: () => unknown
  /** The effects of the job, read after each round: rows, mails, calls. Rounds are compared by them. */
  readonly effects?: () => unknown
}

/** The result of one round. */
export interface Round {
  readonly state: JobState
  readonly effects: unknown
  /** What the job enqueued, in order. */
  readonly enqueued: readonly { readonly type: string; readonly input: unknown }[]
}

export interface Crash extends Round {
  /** The process died right after this operation. */
  readonly after: string
  /** Its result is that of the round without a crash. */
  readonly isSame: boolean
}

export interface CrashReport {
  /** Every round with a crash has the result of the round without one. */
  readonly isSingle: boolean
  readonly undisturbed: Round
  readonly crashes: readonly Crash[]
  /** One line per crash. */
  readonly text: string
  /** Throws an AssertionError with the text unless isSingle. */
  assertSingle(): void
}

/** How the rounds are run. */
export interface World {
  readonly store: Store
  readonly clock: TestClock
  readonly begin: BeginTransaction | undefined
  enqueue(job: JobDefinition, input: unknown): Promise<{ readonly id: JobId }>
  runJob(id: JobId): Promise<boolean>
}

// The claim and the return are the worker's own operations.
const CLAIM = 'the claim'
const RETURN = 'the return of the handler'
// Limits the rounds for a handler that does more.
const MOST_ROUNDS = 1000
// A job that has not ended after this many starts snoozes or fails for ever.
const MOST_STARTS = 100

export async function crashAfterEach(
  world: World,
  definition: RunnableJob,
  input: unknown,
  options: CrashOptions,
): Promise<CrashReport> {
  const { round: undisturbed } = await runRound(world, definition, input, options)
  const crashes: Crash[] = []
  for (let operations = 0; operations < MOST_ROUNDS; operations += 1) {
    const points = new CrashPoints(operations)
    const { round } = await runRound(world, definition, input, options, points)
    const after = operations === 0 ? CLAIM : points.isDead ? String(points.done.at(-1)) : RETURN
    crashes.push({ after, isSame: isDeepStrictEqual(round, undisturbed), ...round })
    if (!points.isDead) break
  }
  return report(definition.type, undisturbed, crashes)
}

/** Without points no run crashes; with them the first run crashes, at its return at the latest. */
async function runRound(
  world: World,
  definition: RunnableJob,
  input: unknown,
  { reset, effects }: CrashOptions,
  points?: CrashPoints,
): Promise<{ round: Round }> {
  await reset?.()
  const { id } = await world.enqueue(definition, input)
  const enqueued: Job[] = []
  const watch = async (run: () => Promise<unknown>) => {
    const known = new Set((await allJobs(world.store)).map((job) => job.id))
    await run()
    enqueued.push(...(await allJobs(world.store)).filter((job) => !known.has(job.id)))
  }
  if (points) {
    await watch(() => runAndDie(world, definition, id, points))
    await reap(world, id)
  }
  const { state } = await runToItsEnd(world, id, watch)
  const made = enqueued.map((job) => ({ type: job.type, input: job.input }))
  return { round: { state, effects: structuredClone(await effects?.()), enqueued: made } }
}

/** Claims and runs without settling, like a process that dies before it can. */
async function runAndDie(world: World, definition: RunnableJob, id: JobId, points: CrashPoints): Promise<void> {
  const job = await claimOne(world.store, id, {
    worker: 'crash-test',
    types: [definition.type],
    leaseId: randomUUID(),
  })
  if (!job || points.isDead) return
  const operations = countedOperations(leasedCalls(world.store, world.begin), points)
  // A dead run has no timeout left that could wake it.
  const run = new Promise<Outcome>((resolve) => {
    startRun(job, { ...definition, timeoutMs: undefined }, operations, () => SILENT, resolve)
  })
  await Promise.race([run, points.crash]).catch(() => {})
}

/** No worker renews the lease of the dead one: when it has expired, the reaper takes the job. */
async function reap({ store, clock }: World, id: JobId): Promise<void> {
  const { lockedUntil } = await read(store, id)
  if (lockedUntil === null) return
  await clock.to(new Date(lockedUntil.getTime() + 1))
  await reapAbandoned(store)
}

async function runToItsEnd(
  world: World,
  id: JobId,
  watch: (run: () => Promise<unknown>) => Promise<void>,
): Promise<Job> {
  for (let starts = 0; ; starts += 1) {
    const job = await read(world.store, id)
    if (isFinalState(job.state) || starts === MOST_STARTS) return job
    if (job.runAt > world.clock.now) await world.clock.to(job.runAt)
    await watch(() => world.runJob(id))
  }
}

async function read(store: Store, id: JobId): Promise<Job> {
  return (await findJob(store, id)) as Job
}

function report(type: string, undisturbed: Round, crashes: readonly Crash[]): CrashReport {
  const isSingle = crashes.every(({ isSame }) => isSame)
  const lines = crashes.map(
    (crash) => `  ${crash.isSame ? 'same ' : 'OTHER'}  crash after ${crash.after}${seen(crash)}`,
  )
  const text = `${type}, undisturbed: ${shown(undisturbed)}\n${lines.join('\n')}`
  return {
    isSingle,
    undisturbed,
    crashes,
    text,
    assertSingle() {
      if (isSingle) return
      throw new AssertionError({
        message: `a crash changes what a job of type ${type} brings about\n${text}`,
        actual: crashes.filter(({ isSame }) => !isSame),
        expected: undisturbed,
        operator: 'assertSingle',
      })
    },
  }
}

function seen({ isSame, state, effects, enqueued }: Crash): string {
  return isSame ? '' : `: ${shown({ state, effects, enqueued })}`
}

function shown({ state, effects, enqueued }: Round): string {
  return inspect({ state, effects, enqueued }, { breakLength: Number.POSITIVE_INFINITY, depth: 4 })
}
