// Compares Holdfast in this checkout ("now") with Holdfast at another commit ("before"), in turns, in one run. Each checkout runs
// its own processes, with its own adapter, library and SQL; this checkout gives both their orders and measures them.
import { UsageError } from './arguments.mjs'
import { checkOut, commitNamed, isIn } from './checkout.mjs'
import { describeMachine, describeVersions } from './machine.mjs'
import { nodeForAll } from './peers.mjs'
import { startIn } from './processes.mjs'
import { printMeasure, summarisePairs } from './report.mjs'
import { measureInTurns } from './rounds.mjs'
import { inSession } from './session.mjs'
import { systemNamed } from './systems.mjs'

const HOLDFAST = /^holdfast\b/

/**
 * @param {import('./arguments.mjs').Wanted} wanted
 * @returns {Promise<number>} the exit code
 */
export async function compareWith(wanted) {
  const commit = commitNamed(wanted.against)
  refuseMissing(commit, wanted.parts)
  const node = nodeForAll() ?? process.execPath
  return inSession(wanted, node, async (bench, atEnd) => {
    const before = checkOut(commit)
    atEnd(before.remove)
    await before.makeReady()
    const { cpu, cores, memory } = describeMachine()
    const { node: nodeVersion, postgresql } = describeVersions(node, await bench.stores.versions())
    console.log(`${cpu}, ${cores} cores, ${memory}; node ${nodeVersion}, postgresql ${postgresql}`)
    console.log(`now: this checkout; before: ${commit.short} (${commit.subject})`)
    const sides = {
      now: bench,
      [`before (${commit.short})`]: { ...bench, start: startIn(node, before.folder) },
    }
    for (const name of wanted.parts) await runPart(name, sides, wanted)
  })
}

function refuseMissing(commit, parts) {
  const missing = parts.find((name) => !isIn(commit, `bench/parts/${name}.mjs`))
  if (missing === undefined) return
  throw new UsageError(
    `${commit.short} has no bench/parts/${missing}.mjs; leave "${missing}" out or give a later commit`,
  )
}

async function runPart(name, sides, wanted) {
  const part = await import(`./parts/${name}.mjs`)
  const names = wanted.quick && part.quickSystems ? part.quickSystems : part.systems
  const systems = names.filter((each) => HOLDFAST.test(each)).map((each) => part.own?.[each] ?? systemNamed(each))
  const nameOn = (side, system) => `${system.name}: ${side}`
  const contenders = systems.flatMap((system) =>
    Object.entries(sides).map(([side, bench]) => ({ name: nameOn(side, system), bench, system })),
  )
  console.log(`\n${name}`)
  const samples = await measureInTurns(part, contenders, wanted)
  const pairs = systems.map((system) => Object.keys(sides).map((side) => nameOn(side, system)))
  for (const [measure, about] of Object.entries(part.measures)) {
    if (Object.keys(samples[measure]).length === 0) continue
    printMeasure(measure, about, summarisePairs(about, samples[measure], pairs), 'now / before')
  }
}
