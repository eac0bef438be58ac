// Numbers for the table.

/** The value below which that share of the sorted values lies. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** p50, p99 and max of milliseconds, named. */
export function spread(name, values) {
  const ms = (value) => `${Math.round(value)} ms`
  return {
    [`${name}, p50`]: ms(percentile(values, 0.5)),
    [`${name}, p99`]: ms(percentile(values, 0.99)),
    [`${name}, max`]: ms(Math.max(...values)),
  }
}

export function ratio(after, before) {
  return before === 0 ? Number.NaN : Math.round((after / before) * 100) / 100
}
