// The figures that are kept: results/latest.json and the chart.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { PARTS } from './arguments.mjs'
import { drawChart } from './chart.mjs'

const RESULTS = join(dirname(fileURLToPath(import.meta.url)), 'results')
const LATEST = join(RESULTS, 'latest.json')

export function save(results) {
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
  const place = (measure) => PARTS.findIndex((part) => measure === part || measure.startsWith(`${part}-`))
  return Object.fromEntries(Object.entries(measures).sort(([a], [b]) => place(a) - place(b)))
}
