// npm run bench [-- part …] [--quick] [--runs N] [--jobs N]: compares Holdfast with its peers in one run.
// npm run bench -- part … --against <git ref>: compares this checkout with another one instead.
import { compareWith } from './against.mjs'
import { readArguments, UsageError } from './arguments.mjs'
import { describeMachine, describeVersions } from './machine.mjs'
import { installPeers, nodeForAll } from './peers.mjs'
import { printMeasure, summarise } from './report.mjs'
import { save } from './results.mjs'
import { measureInTurns } from './rounds.mjs'
import { inSession } from './session.mjs'
import { systemNamed } from './systems.mjs'

try {
  const wanted = readArguments(process.argv.slice(2))
  process.exitCode = await (wanted.against === undefined ? compareWithPeers(wanted) : compareWith(wanted))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 2
}

async function compareWithPeers(wanted) {
  installPeers()
  const nodeOfPeers = nodeForAll()
  if (!nodeOfPeers) console.log('left out: graphile-worker, pg-boss and bullmq, which need Node.js 22.18 or newer')
  const node = nodeOfPeers ?? process.execPath
  return inSession(wanted, node, async (bench) => {
    const { stores } = bench
    if (!stores.hasRedis) console.log('left out: bullmq (Redis), because redis-server is not installed')
    const canRun = (system) => (!system.peer || nodeOfPeers) && (system.store !== 'redis' || stores.hasRedis)
    const machine = describeMachine()
    const versions = describeVersions(node, await stores.versions())
    const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
    console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.memory}; ${named.join(', ')}`)
    const results = {}
    for (const name of wanted.parts) Object.assign(results, await runPart(bench, name, canRun, wanted))
    save({ machine, versions, drained: bench.drained, date: new Date().toISOString(), parts: results })
  })
}

async function runPart(bench, name, canRun, wanted) {
  const part = await import(`./parts/${name}.mjs`)
  const names = bench.quick && part.quickSystems ? part.quickSystems : part.systems
  const systems = names.map((each) => part.own?.[each] ?? systemNamed(each)).filter(canRun)
  console.log(`\n${name}`)
  const contenders = systems.map((system) => ({ name: system.name, bench, system }))
  const samples = await measureInTurns(part, contenders, wanted)
  return Object.fromEntries(
    Object.entries(part.measures).flatMap(([measure, about]) => {
      if (Object.keys(samples[measure]).length === 0) return []
      const summary = { ...summarise(about, samples[measure]), date: new Date().toISOString() }
      printMeasure(measure, about, summary)
      return [[measure, summary]]
    }),
  )
}
