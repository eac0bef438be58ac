// A database for races: the clone with its recorder, three sessions that race and one that watches.
import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { ask, askValue } from '../support/ask.js'
import { openTestDatabase, type TestDatabase } from '../support/database.js'
import { type Actor, interleavings, openActor, play, type Told } from './harness.js'
import { type Part, type Verdict, violationsOf } from './invariants.js'
import type { Operation, Policy, Staged, Start } from './operations.js'

export interface Scenario {
  readonly start: Start
  readonly policy: Policy
  readonly jobs: 1 | 2
  readonly operations: readonly Operation[]
  /** How the transactions end; all commit unless told otherwise. What a rollback leaves parked, the sweep offers again. */
  readonly endings?: readonly ('commit' | 'rollback')[]
  /** Which turns to play, each a session for its operation and again for its ending; all of them unless told otherwise. */
  readonly orders?: readonly (readonly number[])[]
}

export interface Findings {
  readonly permutations: number
  readonly waits: number
  /** One line per violation, with the order that led to it. */
  readonly violations: readonly string[]
}

export interface Race {
  readonly database: TestDatabase
  readonly admin: pg.Client
  readonly actors: readonly Actor[]
  /** Plays all orders of the operations and endings of a scenario. */
  playAll(scenario: Scenario): Promise<Findings>
  close(): Promise<void>
}

/** To drain costs as much as the race; what would be stuck nearly always shows in the places too. */
const DRAIN_EVERY = 8
/** The dead rows of all the stages before would slow each race down a little more. */
const VACUUM_EVERY = 200
const TABLES = ['ready', 'lease', 'outcome', 'attempt', 'job', 'job_key', 'worker', 'audit'].map((t) => `holdfast.${t}`)
const RECORDER = new URL('recorder.sql', import.meta.url)

export async function openRace(): Promise<Race> {
  const database = await openTestDatabase()
  const connect = async (as: 'app' | 'admin') => {
    const client = await database.connect(as)
    // Thousands of short calls: what a plan costs to make matters more than what it saves.
    await client.query('set jit = off; set plan_cache_mode = force_generic_plan')
    return client
  }
  const admin = await connect('admin')
  await admin.query(await readFile(RECORDER, 'utf8'))
  const actors = await Promise.all([1, 2, 3].map(async () => openActor(await connect('app'))))
  let unswept = 0
  return {
    database,
    admin,
    actors,
    async playAll(scenario) {
      const findings = await playAll(admin, actors, scenario)
      unswept += findings.permutations
      if (unswept >= VACUUM_EVERY) {
        await ask(admin, `vacuum ${TABLES}, race.history`)
        unswept = 0
      }
      return findings
    },
    close: () => database.close(),
  }
}

/** Several findings as one. */
export function sum(findings: readonly Findings[]): Findings {
  return {
    permutations: findings.reduce((total, { permutations }) => total + permutations, 0),
    waits: findings.reduce((total, { waits }) => total + waits, 0),
    violations: findings.flatMap(({ violations }) => violations),
  }
}

async function playAll(admin: pg.Client, actors: readonly Actor[], scenario: Scenario): Promise<Findings> {
  const { start, policy, jobs, operations } = scenario
  const staged = await askValue<Staged>(admin, 'select race.stage($1, $2, $3)', [start, policy, jobs])
  await ask(admin, 'select race.keep_stage()')
  // A bare begin takes neither a snapshot nor a lock, so where it stands decides nothing: everyone begins first, which
  // makes the start of each transaction as old as it can be.
  const begins = operations.map((_, actor) => actor)
  const orders = (scenario.orders ?? interleavings(operations.map(() => 2)))
    .filter((order) => scenario.endings === undefined || isMetBeforeRollback(order, scenario.endings))
    .map((order) => [...begins, ...order])
  const violations: string[] = []
  let waits = 0
  for (const [index, order] of orders.entries()) {
    const judgement = await playOne(
      admin,
      actors.slice(0, operations.length),
      scenario,
      staged,
      order,
      index % DRAIN_EVERY === 0,
    )
    const { told, found } = judgement
    waits += told.filter(({ waited }) => waited).length
    violations.push(...found.map((text) => `${text} [${describe(scenario, told)}]`))
  }
  return { permutations: orders.length, waits, violations }
}

// A transaction that is rolled back matters to those who act between its operation and its end.
function isMetBeforeRollback(order: readonly number[], endings: NonNullable<Scenario['endings']>): boolean {
  const actor = endings.indexOf('rollback')
  const [operation, end] = [order.indexOf(actor), order.lastIndexOf(actor)]
  return order.every((other, turn) => other === actor || turn > operation) && end > operation + 1
}

async function playOne(
  admin: pg.Client,
  actors: readonly Actor[],
  { policy, operations, endings = operations.map(() => 'commit') }: Scenario,
  staged: Staged,
  order: readonly number[],
  drains: boolean,
) {
  await ask(admin, 'select race.put_back()')
  const scripts = operations.map(({ name, text, values }, actor) => [
    { name: 'begin', text: 'begin' },
    { name, text, values: values(staged, policy) },
    { name: endings[actor] ?? 'commit', text: endings[actor] ?? 'commit' },
  ])
  const told = await play(admin, actors, scripts, order)

  const parts = operations.map((operation, actor): Part => {
    const [, its, ending] = told.filter((line) => line.actor === actor)
    if (!its || !ending) throw new Error(`session ${actor} did not play its part`)
    return { operation, told: its, over: ending.ended, hasCommitted: ending.command === 'COMMIT' }
  })
  const hasRolledBack = endings.includes('rollback')
  if (hasRolledBack) await ask(admin, 'select holdfast.offer_parked_v1()')
  return { told, found: await judge(admin, { parts, staged, policy, drains }) }
}

interface Trial {
  parts: readonly Part[]
  staged: Staged
  policy: Policy
  drains: boolean
}

async function judge(admin: pg.Client, { parts, staged, policy, drains }: Trial): Promise<string[]> {
  try {
    const verdict = await askValue<Verdict>(admin, 'select race.verdict($1)', [drains])
    return violationsOf(parts, staged, policy, verdict)
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (typeof code !== 'string') throw error
    return [`the jobs cannot be drained: ${code} ${(error as Error).message}`]
  }
}

function describe({ start, policy }: Scenario, told: readonly Told[]): string {
  const steps = told
    .filter(({ step }) => step !== 'begin')
    .map(
      ({ actor, step, waited, code }) => `${actor + 1}: ${step}${waited ? ' (waited)' : ''}${code ? ` ${code}` : ''}`,
    )
  return `${policy ?? 'no key'}, ${start}; ${steps.join(', ')}`
}
