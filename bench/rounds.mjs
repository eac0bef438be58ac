// Measures the contenders of a part in turns (A B C A B C …), so that a slow minute of the machine falls on all of them.
import { percent } from './report.mjs'

// A measurement of which others took more than this does not count as long as there are rounds to spare, as many as were asked for.
const DISTURBED = 0.1

/**
 * @typedef {object} Contender
 * @property {string} name as it stands in the tables
 * @property {object} bench starts the contender's processes
 * @property {import('./systems.mjs').System} system
 */

/**
 * @param {{ measure: Function, measures: object, turnsPerRun?: number, mostRuns?: number }} part
 * @param {Contender[]} contenders
 * @param {import('./arguments.mjs').Wanted} wanted
 * @returns {Promise<Record<string, Record<string, import('./report.mjs').Sample[]>>>} samples of each measure and contender
 */
export async function measureInTurns(part, contenders, { quick, runs }) {
  const turns = quick ? 1 : (part.turnsPerRun ?? 1)
  const counted = turns * Math.min(runs, part.mostRuns ?? runs)
  const all = new Map(contenders.map(({ name }) => [name, []]))
  for (let round = 1; round <= (quick ? counted : 2 * counted); round += 1) {
    for (const contender of contenders) {
      const measured = all.get(contender.name)
      if (measured.filter(({ taken }) => taken <= DISTURBED).length >= counted) continue
      const { values, taken } = await measureOnce(part, contender)
      measured.push({ values, taken })
      if (runs > 1) {
        console.log(`  ${round}/${counted} ${contender.name}: ${list(rounded(values))}, others ${percent(taken)}`)
      }
    }
  }
  const kept = new Map([...all].map(([name, measured]) => [name, leastDisturbed(measured, counted)]))
  return Object.fromEntries(Object.keys(part.measures).map((measure) => [measure, samplesOf(measure, kept)]))
}

async function measureOnce(part, { name, bench, system }) {
  bench.disturbance.begin()
  try {
    return { values: await part.measure(bench, system), taken: bench.disturbance.end() }
  } catch (cause) {
    throw new Error(`${name} could not be measured`, { cause })
  }
}

/** They count whatever their figures are. */
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

function rounded(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value.toPrecision(4))]))
}

function list(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
