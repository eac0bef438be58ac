// CPU time that processes and their children have used, in milliseconds. Only Linux tells it (/proc); elsewhere NaN.
import { readdirSync, readFileSync } from 'node:fs'

const MS_PER_TICK = 10

/**
 * Ended children count once their parent has waited for them, as a postmaster does for its backends.
 * @param {number[]} roots
 */
export function cpuMs(roots) {
  let ticks = 0
  try {
    for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
      const { parent, own, waitedFor } = usage(name)
      if (roots.includes(Number(name))) ticks += own + waitedFor
      else if (roots.includes(parent)) ticks += own
    }
  } catch {
    return Number.NaN
  }
  return ticks * MS_PER_TICK
}

function usage(pid) {
  let line = ''
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return { parent: 0, own: 0, waitedFor: 0 } // it ended in the meantime
  }
  // The name in parentheses may hold anything; what follows it is numbered as proc(5) has it, from field 3 on.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [user, kernel, childUser, childKernel] = fields.slice(11, 15).map(Number)
  return { parent: Number(fields[1]), own: user + kernel, waitedFor: childUser + childKernel }
}
