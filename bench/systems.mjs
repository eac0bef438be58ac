// Every system that the benchmark knows. Their libraries are loaded only where they run, in processes of their own.
import { bareInsert } from './systems/bare-insert.mjs'
import { bullmqOnPostgres, bullmqOnRedis } from './systems/bullmq.mjs'
import { graphileWorkers } from './systems/graphile-worker.mjs'
import { holdfast } from './systems/holdfast.mjs'
import { holdfastFunctions } from './systems/holdfast-functions.mjs'
import { pgBosses } from './systems/pg-boss.mjs'

/**
 * @typedef {object} System
 * @property {string} name as it stands in the tables
 * @property {'postgres' | 'redis'} store what it keeps its jobs in
 * @property {string} [peer] the npm package it is made of, when it is not Holdfast's own
 * @property {number} [share] of a part's jobs that it gets, where all of them would take minutes
 * @property {(url: string) => Promise<Opened>} open
 *
 * @typedef {object} Opened
 * @property {() => Promise<void>} prepare makes the schema
 * @property {(input: object) => Promise<unknown>} enqueue one job, committed when it resolves
 * @property {(inputs: object[]) => Promise<unknown>} enqueueMany
 * @property {(handler: (input: object) => Promise<void>) => Promise<{ stop(): Promise<void> }>} [work]
 * @property {() => Promise<boolean>} [isSettled] once every handler has run: whether every outcome is written down
 * @property {() => Promise<unknown>} [shutQueue] keeps jobs from workers that are up, until openQueue()
 * @property {() => Promise<unknown>} [openQueue]
 * @property {() => Promise<number>} [countHistory] finished jobs that are kept, where the system keeps them
 */

/** @type {System[]} */
const SYSTEMS = [
  holdfast,
  holdfastFunctions,
  ...graphileWorkers,
  ...pgBosses,
  bullmqOnRedis,
  bullmqOnPostgres,
  bareInsert,
]

/** @param {string} name */
export function systemNamed(name) {
  const found = SYSTEMS.find((system) => system.name === name)
  if (!found) throw new Error(`no system is called "${name}"`)
  return found
}
