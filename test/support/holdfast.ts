// Holdfasts on the test file's database: closed after each test, before the database is checked and emptied.
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach } from 'vitest'
import {
  createHoldfast,
  type EventName,
  type Events,
  type Holdfast,
  type HoldfastOptions,
  type JobDefinition,
} from '../../src/index.js'
import type { Row } from './ask.js'
import type { TestDatabase } from './database.js'
import { useDatabase } from './use-database.js'

export interface Bench {
  readonly database: TestDatabase
  /** On a server as the application, which may call functions and nothing else. Runs are not waited for when it closes. */
  open<const Jobs extends readonly JobDefinition[]>(options: HoldfastOptions<Jobs>): Holdfast<Jobs>
  /** Asks as the owner, beside whatever works just now. On PGlite in turn with it. */
  look(text: string, values?: unknown[]): Promise<Row[]>
  /** Closes those that are still open. */
  closeAll(): Promise<void>
}

export function useHoldfast(): Bench {
  const database = useDatabase()
  const holdfasts: { close(): Promise<void> }[] = []
  const closeAll = async () => {
    await Promise.all(holdfasts.splice(0).map((holdfast) => holdfast.close()))
  }
  // Hooks run last first: everything is closed before the database is looked at.
  afterEach(closeAll)

  return {
    get database() {
      return database.whole
    },
    open(options) {
      const { pglite, url } = database.whole
      const holdfast = createHoldfast({
        database: pglite ?? url,
        migrate: false,
        grace: 0,
        ...withheld(process.env.HOLDFAST_TEST_WITHOUT),
        ...options,
      })
      holdfasts.push(holdfast)
      return holdfast
    },
    async look(text, values = []) {
      const { pglite, admin } = database.whole
      return pglite ? (await pglite.query<Row>(text, values)).rows : (await admin.query<Row>(text, values)).rows
    },
    closeAll,
  }
}

const WITHOUT: Record<string, Partial<HoldfastOptions<readonly JobDefinition[]>>> = {
  listen: { listen: false },
  'session-locks': { sessionLock: false },
  'prepared-statements': { preparedStatements: false },
}

/** What a server or a pooler before it may lack, taken away from every Holdfast of the run. */
function withheld(capabilities = ''): Partial<HoldfastOptions<readonly JobDefinition[]>> {
  const names = capabilities.split(',').filter((name) => name !== '')
  return Object.assign({}, ...names.map((name) => WITHOUT[name] ?? unknown(name)))
}

function unknown(name: string): never {
  throw new Error(`HOLDFAST_TEST_WITHOUT names ${name}, which nobody can withhold`)
}

interface Hears {
  on<N extends EventName>(name: N, listener: (fact: Events[N]) => void): () => void
}

/** Resolves with the first fact from now on that `fits`. Call it before the act. */
export function heard<N extends EventName>(
  holdfast: Hears,
  name: N,
  fits: (fact: Events[N]) => boolean = () => true,
): Promise<Events[N]> {
  return new Promise((resolve) => {
    const off = holdfast.on(name, (fact) => {
      if (!fits(fact)) return
      off()
      resolve(fact)
    })
  })
}

/** Resolves with the first `n` facts from now on. */
export function heardTimes<N extends EventName>(holdfast: Hears, name: N, n: number): Promise<Events[N][]> {
  const facts: Events[N][] = []
  return heard(holdfast, name, (fact) => facts.push(fact) === n).then(() => facts)
}

/**
 * Asks again and again until the answer is yes, less often the longer it takes: those who are waited for need the machine more.
 * The test's own time limit is the bound.
 */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let ms = 5; !(await isSo()); ms = Math.min(ms * 1.2, 50)) await pause(ms)
}
