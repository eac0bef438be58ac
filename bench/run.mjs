// npm run bench [-- part …] [--quick] [--runs N]: compares Holdfast with its peers in one run, system by system, in turns.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { drawChart } from './chart.mjs'
import { describeMachine, describeVersions } from './machine.mjs'
import { installPeers, nodeForAll } from './peers.mjs'
import { endAllProcesses, startProcess } from './processes.mjs'
import { printMeasure, summarise } from './report.mjs'
import { openStores } from './stores.mjs'
import { systemNamed } from './systems.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
const RESULTS = join(HERE, 'results')
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
    save({ machine, versions, date: new Date().toISOString(), parts: results })
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
  const rounds = Math.min(runs, part.mostRuns ?? runs)
  const samples = Object.fromEntries(Object.keys(part.measures).map((measure) => [measure, {}]))
  console.log(`\n${name}`)
  for (let round = 1; round <= rounds; round += 1) {
    for (const system of systems) {
      const values = await part.measure(bench, system)
      for (const [measure, value] of Object.entries(values)) {
        if (!Number.isFinite(value)) continue // not every machine can measure everything
        samples[measure][system.name] = [...(samples[measure][system.name] ?? []), value]
      }
      if (rounds > 1) console.log(`  ${round}/${rounds} ${system.name}: ${list(rounded(values))}`)
    }
  }
  return Object.fromEntries(
    Object.entries(part.measures).flatMap(([measure, about]) => {
      if (Object.keys(samples[measure]).length === 0) return []
      const summary = summarise(about, samples[measure])
      printMeasure(measure, about, summary)
      return [[measure, summary]]
    }),
  )
}

async function close(stores) {
  await endAllProcesses()
  await stores.close()
}

function save(results) {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, 'latest.json'), `${JSON.stringify(results, null, 2)}\n`)
  if (results.parts.drain) writeFileSync(join(RESULTS, 'chart.svg'), drawChart(results))
  console.log('\nwritten: bench/results/latest.json')
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

function list(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
