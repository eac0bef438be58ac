// From samples to a table: the median, the spread, and Holdfast's share of it.

/**
 * @typedef {{ unit: string, better: 'higher' | 'lower', says: string }} Measure
 * @typedef {{ value: number, taken: number }} Sample `taken`: the share of the machine that others took meanwhile
 * @typedef {{ median: number, low: number, high: number, taken: number }} Spread
 * @typedef {Measure & { systems: Record<string, Spread>, ratios: Record<string, number> }} Summary
 */

const BASE = 'holdfast'

/**
 * @param {Measure} measure
 * @param {Record<string, Sample[]>} samples
 * @returns {Summary}
 */
export function summarise(measure, samples) {
  const systems = Object.fromEntries(Object.entries(samples).map(([name, each]) => [name, spread(each)]))
  const base = systems[BASE]?.median
  const others = Object.entries(systems).filter(
    ([name, { median }]) => name !== BASE && base !== undefined && median > 0,
  )
  const ratios = Object.fromEntries(others.map(([name, { median }]) => [name, significant(base / median, 3)]))
  return { ...measure, systems, ratios }
}

/**
 * Of each pair the ratio stands with the first.
 * @param {Measure} measure
 * @param {Record<string, Sample[]>} samples
 * @param {[string, string][]} pairs names
 * @returns {Summary}
 */
export function summarisePairs(measure, samples, pairs) {
  const systems = Object.fromEntries(Object.entries(samples).map(([name, each]) => [name, spread(each)]))
  const ratios = pairs
    .filter(([one, other]) => systems[one] && systems[other]?.median > 0)
    .map(([one, other]) => [one, significant(systems[one].median / systems[other].median, 3)])
  return { ...measure, systems, ratios: Object.fromEntries(ratios) }
}

export function median(values) {
  return quantile(values, 0.5)
}

/** @param {number[]} values */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)]
  return below + (sorted[Math.ceil(place)] - below) * (place % 1)
}

/**
 * @param {string} name
 * @param {Measure} measure
 * @param {Summary} summary
 * @param {string} ratioOf what the ratios are
 */
export function printMeasure(name, { unit, better, says }, { systems, ratios }, ratioOf = 'holdfast / it') {
  console.log(`\n  ${name}: ${says} (${unit}, ${better} is better)`)
  const width = Math.max(...Object.keys(systems).map((system) => system.length), 8)
  console.log(`  ${''.padEnd(width)}  ${cells(['median', 'low', 'high', 'spread', ratioOf, 'others took'])}`)
  for (const [system, { median, low, high, taken }] of Object.entries(systems)) {
    const ratio = ratios[system] === undefined ? '' : ratios[system].toFixed(2)
    const figures = [...[median, low, high].map(readable), percent((high - low) / median), ratio, percent(taken)]
    console.log(`  ${system.padEnd(width)}  ${cells(figures)}`)
  }
}

function spread(samples) {
  const values = samples.map(({ value }) => value)
  const [middle, low, high] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    significant(value, 4),
  )
  return { median: middle, low, high, taken: significant(median(samples.map(({ taken }) => taken)), 2) }
}

function significant(value, digits) {
  return Number(value.toPrecision(digits))
}

export function percent(share) {
  return `${Math.round(share * 100)} %`
}

function readable(value) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })
}

function cells(texts) {
  return texts.map((text) => text.padStart(15)).join('')
}
