// Ways to wait: for a time, or for a fact.
import { setTimeout as pause } from 'node:timers/promises'

export { pause }

/**
 * Asks until the answer is true; fails after `ms` with what it waited for.
 * @param {string} what
 * @param {() => Promise<boolean>} isSo
 */
export async function until(what, isSo, { ms = 60_000, everyMs = 25 } = {}) {
  const deadline = performance.now() + ms
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`gave up after ${Math.round(ms / 1000)} s of waiting: ${what}`)
    await pause(everyMs)
  }
}
