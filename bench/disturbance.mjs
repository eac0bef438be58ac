// How much of the machine others took while something was measured. In a virtual machine the host tells what time it gave to its
// other guests ("steal" in /proc/stat). It does not tell that they share a core with this one, which makes it slower by a half:
// that a process of its own finds out, which does the same piece of work again and again and tells what CPU time it took.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { quantile } from './report.mjs'

const GAUGE = fileURLToPath(new URL('gauge-process.mjs', import.meta.url))
// The machine's own speed is that of its fastest pieces, but for a few that an odd clock made look so.
const FASTEST = 0.02

export class Disturbance {
  #pieces = []
  #all = []
  #before = cpuTicks()
  #taken
  #gauge = spawn(process.execPath, [GAUGE], { stdio: ['pipe', 'pipe', 'inherit'] })

  constructor() {
    createInterface({ input: this.#gauge.stdout }).on('line', (text) => {
      this.#pieces.push(Number(text))
      this.#all.push(Number(text))
    })
  }

  /** What is measured starts now; what was begun before it is forgotten. */
  begin() {
    this.#taken = undefined
    this.#pieces = []
    this.#before = cpuTicks()
  }

  /** Ends what was begun and tells the share of the machine, from 0 to 1, that others took of it. Again, it tells the same. */
  end() {
    if (this.#taken !== undefined) return this.#taken
    const after = cpuTicks()
    const all = after.all - this.#before.all
    const left = all > 0 ? 1 - (after.stolen - this.#before.stolen) / all : 1
    const mean = this.#pieces.reduce((sum, piece) => sum + piece, 0) / this.#pieces.length
    const speed = this.#pieces.length > 0 ? Math.min(1, quantile(this.#all, FASTEST) / mean) : 1
    this.#taken = 1 - left * speed
    return this.#taken
  }

  close() {
    this.#gauge.kill()
  }
}

function cpuTicks() {
  try {
    // user nice system idle iowait irq softirq steal; what follows is contained in user and nice
    const ticks = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].trim().split(/\s+/).slice(1, 9).map(Number)
    return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] ?? 0 }
  } catch {
    return { all: 0, stolen: 0 } // only Linux tells
  }
}
