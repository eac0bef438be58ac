// Worker processes on the test file's database: the built package, ended after each test, before the database is looked at.
import { afterEach, beforeAll } from 'vitest'
import { openFleet } from '../../chaos/fleet.mjs'
import { TABLES } from '../../chaos/tables.mjs'
import type { Row } from './ask.js'
import { givenIn, type JobWish } from './given.js'
import type { Bench } from './holdfast.js'

type Fleet = ReturnType<typeof openFleet>

export interface FleetBench extends Pick<Fleet, 'startWorker' | 'startCommand' | 'complaints'> {
  /** Ids of `n` new jobs of a type of chaos/jobs.mjs or chaos/isolated-jobs.mjs. */
  enqueue(n: number, wish: JobWish): Promise<string[]>
  jobs(ids: readonly string[]): Promise<Row[]>
}

export function useFleet(bench: Bench): FleetBench {
  let open: Fleet | undefined
  const fleet = () => {
    open ??= openFleet(bench.database.url)
    return open
  }
  beforeAll(async () => {
    await bench.look(TABLES)
  })
  afterEach(async () => {
    await open?.endAll()
    open = undefined
    await bench.look('truncate started, effect, effect_log, step_log')
  })
  return {
    startWorker: (settings) => fleet().startWorker(settings),
    startCommand: (environment) => fleet().startCommand(environment),
    complaints: () => fleet().complaints(),
    async enqueue(n, wish) {
      const given = givenIn(bench.database.admin)
      const ids: string[] = []
      for (let i = 0; i < n; i += 1) ids.push(await given.pendingJob(wish))
      return ids
    },
    jobs: (ids) => bench.look('select * from holdfast.jobs where id = any ($1) order by id', [ids]),
  }
}
