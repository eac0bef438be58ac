// One clock for all processes of the machine, in milliseconds, and ways to wait.

export const now = () => Number(process.hrtime.bigint()) / 1e6

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {() => Promise<boolean> | boolean} fact */
export async function until(fact, everyMs = 1) {
  while (!(await fact())) await pause(everyMs)
}
