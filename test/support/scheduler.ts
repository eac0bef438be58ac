// Schedulers on the test file's database with a clock that the test sets: one connection for all, whose session has the time.
import pg from 'pg'
import { afterEach } from 'vitest'
import { indexByType } from '../../src/domain/job/definition.js'
import { indexByJobKey } from '../../src/domain/schedule/define-schedule.js'
import type { Holdfast, JobDefinition, ScheduleDefinition, Tick } from '../../src/index.js'
import { Scheduler } from '../../src/maintenance/scheduler.js'
import { Store } from '../../src/store/store.js'
import { setClock } from './clock.js'
import type { Bench } from './holdfast.js'

export interface Scheduling {
  readonly holdfast: Holdfast
  readonly scheduler: Scheduler
  readonly fired: { jobKey: string; ticks: readonly Tick[] }[]
  readonly faults: { jobKey: string; error: unknown }[]
  /** Sets the clock, then lets the scheduler look until nothing is due any more. */
  lookAt(iso: string): Promise<void>
}

export function useScheduling(bench: Bench) {
  let pool: pg.Pool | undefined
  let now: string | null = null
  const set = async (iso: string | null) => {
    now = iso
    if (bench.database.pglite) await setClock({ query: bench.look }, iso)
    else if (pool) await setClock(pool, iso)
  }
  const openPool = () =>
    new pg.Pool({
      connectionString: bench.database.url,
      max: 1,
      // The pool gives up a connection whose statement was refused; the next one must have the same time.
      onConnect: (client) => setClock(client, now),
    })
  afterEach(async () => {
    await bench.closeAll()
    await set(null)
    await pool?.end()
    pool = undefined
  })

  return {
    setClock: set,
    /** Writes the definitions down at this moment. */
    async open(
      iso: string,
      schedules: readonly ScheduleDefinition[],
      jobs: readonly JobDefinition[],
    ): Promise<Scheduling> {
      pool ??= bench.database.pglite ? undefined : openPool()
      const database = bench.database.pglite ?? (pool as pg.Pool)
      const fired: Scheduling['fired'] = []
      const faults: Scheduling['faults'] = []
      const scheduler = new Scheduler(new Store({ database, migrate: false }), {
        worker: 'w',
        definitions: indexByJobKey(schedules),
        jobs: indexByType(jobs),
        onFired: (fact) => fired.push(fact),
        onScheduleFault: (fact) => faults.push(fact),
        onEdited: () => {},
        onFault: (doing, error) => {
          throw new Error(doing, { cause: error })
        },
      })
      await set(iso)
      await scheduler.put()
      const lookAt = async (moment: string) => {
        await set(moment)
        // The first look plans, the second fires.
        await scheduler.runOnce()
        await scheduler.runOnce()
      }
      await lookAt(iso)
      return { holdfast: bench.open({ database, jobs, schedules }), scheduler, fired, faults, lookAt }
    },
  }
}
