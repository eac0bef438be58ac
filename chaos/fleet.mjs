// Starts worker processes, hears what they print, and ends them all, by id, however a scenario goes.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const HERE = dirname(fileURLToPath(import.meta.url))
const CLI = join(HERE, '..', 'dist', 'cli', 'main.js')
const PATIENCE_MS = 60_000

/**
 * One printed line: the name of an event and its fields.
 * @typedef {{ event: string, [name: string]: unknown }} Fact
 */

/**
 * @typedef {object} WorkerSettings
 * @property {string} [lease] of every type
 * @property {string[]} [print] further events to print
 * @property {boolean} [isolated] serve the isolated jobs too
 * @property {Record<string, unknown>} [options] of createHoldfast
 */

/** @typedef {{ code: number | null, signal: string | null }} End */

export class WorkerProcess {
  /** @type {Fact[]} */
  #facts = []
  #stderr = ''
  /** @type {End | undefined} */
  #end
  #child

  /**
   * @param {string[]} args
   * @param {Record<string, string>} environment
   */
  constructor(args, environment) {
    this.#child = spawn(process.execPath, args, {
      env: { ...process.env, NODE_NO_WARNINGS: '1', ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stdin.on('error', () => {})
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr = (this.#stderr + text).slice(-8000)
    })
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#facts.push(line.startsWith('{') ? JSON.parse(line) : { event: 'text', line })
    })
    /** @type {Promise<End>} */
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#end = { code, signal }
        resolve(this.#end)
      })
    })
  }

  get pid() {
    return this.#child.pid ?? -1
  }

  get isAlive() {
    return this.#end === undefined
  }

  get stderr() {
    return this.#stderr
  }

  /**
   * Everything of that name so far.
   * @param {string} event
   */
  events(event) {
    return this.#facts.filter((fact) => fact.event === event)
  }

  /**
   * Waits until an event was printed that often; fails when the process ends before.
   * @param {string} event
   */
  async hears(event, times = 1) {
    const deadline = performance.now() + PATIENCE_MS
    while (this.events(event).length < times) {
      if (!this.isAlive) throw new Error(`worker ${this.pid} ended before "${event}":\n${this.#stderr}`)
      if (performance.now() > deadline) throw new Error(`worker ${this.pid} did not print "${event}" in time`)
      await pause(10)
    }
    return this.events(event)
  }

  /** Its id in the database. */
  async id() {
    const [started] = await this.hears('worker.started')
    return String(started?.worker)
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal) {
    if (this.isAlive) this.#child.kill(signal)
  }
}

/** @param {string} url of the database, as the workers see it */
export function openFleet(url) {
  /** @type {WorkerProcess[]} */
  const all = []

  return {
    /** @param {WorkerSettings & { url?: string }} [settings] */
    async startWorker({ url: other, ...settings } = {}) {
      const environment = { DATABASE_URL: other ?? url, CHAOS_WORKER: JSON.stringify(settings) }
      const worker = new WorkerProcess([join(HERE, 'worker.mjs')], environment)
      all.push(worker)
      await worker.hears('worker.started')
      return worker
    },

    /** As a deployment does: the command line with a configuration file. */
    async startCommand(environment = {}) {
      const args = [CLI, 'worker', '--config', join(HERE, 'app.mjs'), '--json']
      const worker = new WorkerProcess(args, { DATABASE_URL: url, ...environment })
      all.push(worker)
      await worker.hears('worker.started')
      return worker
    },

    /**
     * How often all of them printed an event, ended ones included.
     * @param {string} event
     */
    count: (event) => all.reduce((sum, worker) => sum + worker.events(event).length, 0),

    /** What they printed that no scenario expects. */
    complaints: () => all.map(({ stderr }) => stderr).join(''),

    /** The last faults of each worker, to explain a scenario that failed. */
    lastFaults: () =>
      all.flatMap((worker) =>
        worker
          .events('worker.fault')
          .slice(-5)
          .map(({ doing, code, error }) => `${worker.pid}: ${doing}: ${code} ${error}`),
      ),

    async endAll() {
      for (const worker of all) {
        worker.kill('SIGCONT')
        worker.kill('SIGKILL')
      }
      await Promise.all(all.map(({ ended }) => ended))
    },
  }
}
