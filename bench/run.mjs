// npm run bench [-- part …] [--quick] [--runs N]: compares Holdfast with its peers in one run, system by system, in turns.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { drawChart } from './chart.mjs'
import { watchDisturbance } from './disturbance.mjs'
import { describeMachine, describeVersions } from './machine.mjs'
import { installPeers, nodeForAll } from './peers.mjs'
import { endAllProcesses, startProcess } from './processes.mjs'
import { printMeasure, summarise } from './report.mjs'
import { openStores } from './stores.mjs'
import { systemNamed } from './systems.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
const RESULTS = join(HERE, 'results')
const LATEST = join(RESULTS, 'latest.json')
const ORDER = [
  'drain',
  'limit',
  'enqueue',
  'latency',
  'chain',
  'fanout',
  'fleet',
  'mixed',
  'snapshot',
  'backlog',
  'idle',
]
// A round in which the host gave more than this to others does not count, as long as there are rounds to spare.
const DISTURBED = 0.02
const SPARE_ROUNDS = 0.5

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, runs: { type: 'string' }, jobs: { type: 'string' } },
})
const parts = chosenParts(positionals)
const runs = wholeNumber(flags.runs ?? (flags.quick ? '1' : '5'), '--runs')
const jobs = flags.jobs === undefined ? undefined : wholeNumber(flags.jobs, '--jobs')

process.exitCode = await main()

async function main() {
  installPeers()
  const node = nodeForAll()
  if (!node) console.log('left out: graphile-worker, pg-boss and bullmq, which need Node.js 22.18 or newer')
  const stores = await openStores()
  if (!stores.hasRedis) console.log('left out: bullmq (Redis), because redis-server is not installed')
  let isInterrupted = false
  const stop = () => {
    isInterrupted = true
    void close(stores).then(() => process.exit(130))
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)

  const bench = {
    stores,
    quick: flags.quick === true,
    drained: jobs ?? (flags.quick ? 5000 : 100_000),
    size: (full, quick) => (flags.quick ? quick : full),
    start: (part, system, params, url) =>
      startProcess({ node: node ?? process.execPath, part, system: system.name, params, url }),
  }
  const canRun = (system) => (!system.peer || node) && (system.store !== 'redis' || stores.hasRedis)
  try {
    const machine = describeMachine()
    const versions = describeVersions(node ?? process.execPath, await stores.versions())
    console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.memory}; ${list(versions)}`)
    const results = {}
    for (const name of parts) Object.assign(results, await runPart(bench, name, canRun))
    save({ machine, versions, drained: bench.drained, date: new Date().toISOString(), parts: results })
    return 0
  } catch (error) {
    if (!isInterrupted) console.error(error)
    return 1
  } finally {
    await close(stores)
  }
}

/** A B C A B C …, so that a slow minute of the machine falls on all of them. */
async function runPart(bench, name, canRun) {
  const part = await import(`./parts/${name}.mjs`)
  const names = bench.quick && part.quickSystems ? part.quickSystems : part.systems
  const systems = names.map((each) => part.own?.[each] ?? systemNamed(each)).filter(canRun)
  console.log(`\n${name}`)
  const kept = await runRounds(Math.min(runs, part.mostRuns ?? runs), async (label) => {
    const values = {}
    for (const system of systems) {
      values[system.name] = await part.measure(bench, system)
      if (runs > 1) console.log(`  ${label} ${system.name}: ${list(rounded(values[system.name]))}`)
    }
    return values
  })
  return Object.fromEntries(
    Object.entries(part.measures).flatMap(([measure, about]) => {
      const samples = samplesOf(measure, systems, kept)
      if (Object.keys(samples).length === 0) return []
      const summary = { ...summarise(about, samples), date: new Date().toISOString() }
      printMeasure(measure, about, summary)
      return [[measure, summary]]
    }),
  )
}

/** As many rounds as asked for, the least disturbed ones if some had to be repeated. A round stands or falls for all systems. */
async function runRounds(wanted, runRound) {
  const rounds = []
  const isQuiet = ({ taken }) => taken <= DISTURBED
  const most = flags.quick ? wanted : wanted + Math.ceil(wanted * SPARE_ROUNDS)
  while (rounds.filter(isQuiet).length < wanted && rounds.length < most) {
    const disturbance = watchDisturbance()
    const values = await runRound(`${rounds.length + 1}/${wanted}`)
    rounds.push({ values, taken: disturbance() })
    if (!isQuiet(rounds.at(-1))) console.log(`  others took ${percent(rounds.at(-1).taken)} of the CPU in this round`)
  }
  const kept = rounds.sort((a, b) => a.taken - b.taken).slice(0, wanted)
  if (rounds.length > wanted) console.log(`  kept: the ${wanted} least disturbed of ${rounds.length} rounds`)
  return kept.map(({ values }) => values)
}

function samplesOf(measure, systems, rounds) {
  const samples = {}
  for (const { name } of systems) {
    // Not every machine can measure everything.
    const values = rounds.map((round) => round[name][measure]).filter(Number.isFinite)
    if (values.length > 0) samples[name] = values
  }
  return samples
}

async function close(stores) {
  await endAllProcesses()
  await stores.close()
}

function save(results) {
  const all = { ...results, parts: inOrder({ ...earlierParts(results), ...results.parts }) }
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(LATEST, `${JSON.stringify(all, null, 2)}\n`)
  if (all.parts.drain) writeFileSync(join(RESULTS, 'chart.svg'), drawChart(all))
  console.log('\nwritten: bench/results/latest.json')
}

/** What an earlier run measured of the same versions, sizes and machine, and this one did not. Each part has its own date. */
function earlierParts({ machine, versions, drained }) {
  if (!existsSync(LATEST)) return {}
  const earlier = JSON.parse(readFileSync(LATEST, 'utf8'))
  const isSame = isDeepStrictEqual([earlier.machine, earlier.versions, earlier.drained], [machine, versions, drained])
  return isSame ? earlier.parts : {}
}

/** The measures of a part follow the part's name: drain, drain-cpu. */
function inOrder(measures) {
  const place = (measure) => ORDER.findIndex((part) => measure === part || measure.startsWith(`${part}-`))
  return Object.fromEntries(Object.entries(measures).sort(([a], [b]) => place(a) - place(b)))
}

function chosenParts(names) {
  const known = readdirSync(join(HERE, 'parts')).map((file) => file.replace('.mjs', ''))
  const unknown = names.find((name) => !known.includes(name))
  if (unknown) {
    console.error(`no part is called "${unknown}"; there are ${ORDER.join(', ')}`)
    process.exit(2)
  }
  return ORDER.filter((name) => known.includes(name) && (names.length === 0 || names.includes(name)))
}

function wholeNumber(text, name) {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  console.error(`${name} must be a whole number from 1`)
  process.exit(2)
}

function rounded(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value.toPrecision(4))]))
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`
}

function list(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
