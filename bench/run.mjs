// npm run bench [-- part …] [--quick] [--runs N]: compares Holdfast with its peers in one run, system by system, in turns.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { drawChart } from './chart.mjs'
import { Disturbance } from './disturbance.mjs'
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
  'standing',
  'mixed',
  'snapshot',
  'backlog',
  'idle',
]
// A measurement of which others took more than this does not count as long as there are rounds to spare, as many as were asked for.
const DISTURBED = 0.1

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
  const disturbance = new Disturbance()
  if (!stores.hasRedis) console.log('left out: bullmq (Redis), because redis-server is not installed')
  let isInterrupted = false
  const stop = () => {
    isInterrupted = true
    void close(stores, disturbance).then(() => process.exit(130))
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)

  const bench = {
    stores,
    disturbance,
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
    await close(stores, disturbance)
  }
}

/** A B C A B C …, so that a slow minute of the machine falls on all of them. */
async function runPart(bench, name, canRun) {
  const part = await import(`./parts/${name}.mjs`)
  const names = bench.quick && part.quickSystems ? part.quickSystems : part.systems
  const systems = names.map((each) => part.own?.[each] ?? systemNamed(each)).filter(canRun)
  console.log(`\n${name}`)
  const turns = bench.quick ? 1 : (part.turnsPerRun ?? 1)
  const kept = await runRounds(systems, turns * Math.min(runs, part.mostRuns ?? runs), async (system) => {
    bench.disturbance.begin()
    const values = await part.measure(bench, system)
    return { values, taken: bench.disturbance.end() }
  })
  return Object.fromEntries(
    Object.entries(part.measures).flatMap(([measure, about]) => {
      const samples = samplesOf(measure, kept)
      if (Object.keys(samples).length === 0) return []
      const summary = { ...summarise(about, samples), date: new Date().toISOString() }
      printMeasure(measure, about, summary)
      return [[measure, summary]]
    }),
  )
}

/**
 * As many measurements of each system as asked for. Disturbed ones are repeated, a system at a time in further rounds, and the
 * least disturbed count, whatever they tell.
 */
async function runRounds(systems, wanted, measure) {
  const all = new Map(systems.map(({ name }) => [name, []]))
  const most = flags.quick ? wanted : 2 * wanted
  for (let round = 1; round <= most; round += 1) {
    for (const system of systems) {
      const measured = all.get(system.name)
      if (measured.filter(({ taken }) => taken <= DISTURBED).length >= wanted) continue
      const { values, taken } = await measure(system)
      measured.push({ values, taken })
      if (runs > 1)
        console.log(`  ${round}/${wanted} ${system.name}: ${list(rounded(values))}, others ${percent(taken)}`)
    }
  }
  return new Map([...all].map(([name, measured]) => [name, leastDisturbed(measured, wanted)]))
}

function leastDisturbed(measured, n) {
  return measured.toSorted((a, b) => a.taken - b.taken).slice(0, n)
}

function samplesOf(measure, kept) {
  const samples = {}
  for (const [name, measured] of kept) {
    // Not every machine can measure everything.
    const known = measured.filter(({ values }) => Number.isFinite(values[measure]))
    if (known.length > 0) samples[name] = known.map(({ values, taken }) => ({ value: values[measure], taken }))
  }
  return samples
}

async function close(stores, disturbance) {
  disturbance.close()
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
  return `${Math.round(share * 100)} %`
}

function list(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
