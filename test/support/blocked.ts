// Facts about who waits for whom, so that tests can stage a race instead of hoping for one.
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { askValue, type Session } from './ask.js'

export function pidOf(client: pg.Client): Promise<number> {
  return askValue<number>(client, 'select pg_backend_pid()')
}

/** Returns once the backend waits for a lock that another one holds. Ask for the pid before the backend is busy. */
export async function waitUntilBlocked(admin: Session, pid: number): Promise<void> {
  for (let tries = 0; tries < 6000; tries += 1) {
    const blockers = await askValue<number>(admin, 'select cardinality(pg_blocking_pids($1))', [pid])
    if (blockers > 0) return
    await pause(10)
  }
  throw new Error(`backend ${pid} never waited for anyone`)
}

/** Waits for the answer, but only as long as a statement takes that waits for nobody. */
export async function orSoon(answer: Promise<unknown>): Promise<void> {
  await Promise.race([answer, pause(2)])
}

/** From now on a statement of this session that would wait for a lock fails with 55P03 instead. */
export async function refuseToWait(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = '100ms'`)
}
