// npm run chaos [-- scenario …] [--quick]: does harm to real workers and a real PostgreSQL, and checks what is promised.
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createHoldfast } from 'holdfast'
import { checkInvariants } from './checker.mjs'
import { openServer } from './database.mjs'
import { openFleet } from './fleet.mjs'
import * as isolatedJobs from './isolated-jobs.mjs'
import { chaosJobs } from './jobs.mjs'
import { until } from './waiting.mjs'

const SCENARIOS = join(dirname(fileURLToPath(import.meta.url)), 'scenarios')
const LONGEST_MS = 15 * 60_000

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } })
process.exitCode = await main(chosen(positionals))

async function main(names) {
  const postgres = await openServer()
  const stop = () => void postgres.close().then(() => process.exit(130))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  const total = { passed: 0, failed: 0 }
  try {
    for (const name of names) {
      const scenario = await import(join(SCENARIOS, `${name}.mjs`))
      console.log(`\n${scenario.name}: ${scenario.what}`)
      const { statistics, checks } = await runScenario(postgres, scenario)
      print(statistics, checks)
      total.passed += checks.filter(({ holds }) => holds).length
      total.failed += checks.filter(({ holds }) => !holds).length
    }
  } finally {
    await postgres.close()
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`)
  return total.failed === 0 ? 0 : 1
}

/** Its own database and fleet; both are gone afterwards, also when the scenario throws. */
async function runScenario(postgres, scenario) {
  const database = await postgres.freshDatabase()
  const fleet = openFleet(database.url)
  const client = createHoldfast({
    database: database.ownerUrl,
    jobs: [...chaosJobs(), ...Object.values(isolatedJobs)],
    maxConnections: 4,
  })
  const checks = []
  const context = {
    ...database,
    fleet,
    client,
    server: postgres.server,
    isQuick: flags.quick === true,
    /** Ids of every job that an enqueue has acknowledged. */
    acknowledged: new Set(),
    check: (what, holds, saw = '') => checks.push({ what, holds: holds === true, saw }),
    value: async (text, values) => Object.values((await database.ask(text, values))[0])[0],
    async enqueue(type, inputs, options) {
      const handles = await client.enqueueMany(type, inputs, options)
      for (const { id } of handles) context.acknowledged.add(id)
      return handles.map(({ id }) => id)
    },
    untilHeldBy: (worker, n) => untilHeldBy(database.ask, worker, n),
    /** Until nothing is pending or running. */
    untilIdle: () => untilIdle(database.ask),
  }
  const startedAt = performance.now()
  let statistics = {}
  try {
    statistics = await withinLimit(scenario.run(context))
    checks.push(...(await checkInvariants(database.ask, context.acknowledged)))
    statistics = { ...statistics, 'writes refused': fleet.count('job.lost') }
  } catch (error) {
    context.check('the scenario came to its end', false, error?.stack ?? error)
    console.log([...fleet.lastFaults(), fleet.complaints()].join('\n'))
  } finally {
    await fleet.endAll()
    await client.close()
    await database.close()
  }
  return { statistics: { ...statistics, took: `${Math.round((performance.now() - startedAt) / 1000)} s` }, checks }
}

function untilIdle(ask) {
  const isIdle = async () => {
    const [{ n }] = await ask(
      'select (select count(*) from holdfast.ready) + (select count(*) from holdfast.lease) as n',
    )
    return Number(n) === 0
  }
  return until('nothing is pending or running', isIdle, { ms: 180_000, everyMs: 100 })
}

async function untilHeldBy(ask, worker, n) {
  const id = await worker.id()
  await until(`worker ${id} holds ${n} jobs`, async () => {
    const [{ held }] = await ask('select count(*)::int as held from holdfast.lease where locked_by = $1', [id])
    return held === n
  })
}

async function withinLimit(work) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${LONGEST_MS / 60_000} minutes`)), LONGEST_MS)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function print(statistics, checks) {
  const width = Math.max(...Object.keys(statistics).map((name) => name.length))
  for (const [name, value] of Object.entries(statistics)) console.log(`  ${name.padEnd(width)}  ${value}`)
  for (const { what, holds, saw } of checks) {
    console.log(`  ${holds ? 'ok  ' : 'FAIL'}  ${what}${holds || saw === '' ? '' : `: ${show(saw)}`}`)
  }
}

function show(saw) {
  return typeof saw === 'string' ? saw : JSON.stringify(saw)
}

function chosen(names) {
  const known = readdirSync(SCENARIOS).map((file) => file.replace('.mjs', ''))
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    console.error(`no scenario is called "${unknown}"; there are ${known.join(', ')}`)
    process.exit(2)
  }
  return names.length > 0 ? names : known
}
