// How much of the machine others took. In a virtual machine the host tells what it gave to its other guests ("steal" in
// /proc/stat); elsewhere, and off Linux, nothing is known and nothing is assumed.
import { readFileSync } from 'node:fs'

/** Starts a watch; what it returns tells the share of CPU time, from 0 to 1, that was taken since. */
export function watchDisturbance() {
  const before = cpuTicks()
  return () => {
    const after = cpuTicks()
    const all = after.all - before.all
    return all > 0 ? (after.stolen - before.stolen) / all : 0
  }
}

function cpuTicks() {
  try {
    // user nice system idle iowait irq softirq steal; what follows is contained in user and nice
    const ticks = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].trim().split(/\s+/).slice(1, 9).map(Number)
    return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] ?? 0 }
  } catch {
    return { all: 0, stolen: 0 }
  }
}
