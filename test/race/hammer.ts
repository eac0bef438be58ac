// Sixteen workers on a few hot keys: each claims, holds for a moment and completes, while others enqueue, cancel, retry and
// reap. What it drives is a protocol, so that the same hammer and auditor can be shown a claim that is wrong.
import type pg from 'pg'
import { askList } from '../support/ask.js'
import { breachesOf, type HistoryLine, linesOfLease } from './history.js'
import type { Race } from './race.js'

export interface HeldLease {
  readonly job_id: string
  readonly token: string
  readonly lease_id: string
}

/** What workers do for a living. Each operation runs on the worker's own session. */
export interface ClaimProtocol {
  claim(session: pg.Client, worker: string, notes: Notes): Promise<HeldLease[]>
  /** Renewals, failures and the like between claim and completion; true when the lease is settled by it. */
  hold(session: pg.Client, lease: HeldLease, notes: Notes): Promise<boolean>
  complete(session: pg.Client, worker: string, lease: HeldLease): Promise<boolean>
  isDrained(admin: pg.Pool): Promise<boolean>
  /** Sessions beside the workers; each is called again and again until it says that it has done its part. */
  readonly others: readonly ((session: pg.Client, notes: Notes) => Promise<'more' | 'done'>)[]
}

/** What the workers saw. */
export class Notes {
  readonly codes = new Map<string, number>()
  readonly completed: HeldLease[] = []
  readonly claimed: HeldLease[] = []
  readonly acknowledged: string[] = []
  staleTaken = 0
  staleRefused = 0

  /** Does it, or counts the SQLSTATE that it broke with. */
  async attempt<T>(operation: () => Promise<T>): Promise<T | undefined> {
    try {
      return await operation()
    } catch (error) {
      const code = String((error as { code?: unknown }).code)
      this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
      return undefined
    }
  }
}

export interface Report {
  readonly claims: number
  readonly completed: number
  readonly overlaps: number
  readonly uniqueViolations: number
  readonly deadlocks: number
  readonly otherErrors: readonly string[]
  readonly staleTaken: number
  readonly staleRefused: number
  readonly isDrained: boolean
  /** Promises of the history that are broken, overlaps apart. */
  readonly breaches: readonly string[]
}

const WORKERS = 16
const IDLE_LIMIT = 1000

/** Waits for turns of the event loop: long enough for others to come in between. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A while in which this session asks for nothing, so that idle ones leave the machine to the others. */
export async function rest(session: pg.Client): Promise<void> {
  await session.query('select pg_sleep(0.005)')
}

export async function hammer(race: Race, protocol: ClaimProtocol, notes: Notes): Promise<Report> {
  const connect = () => race.database.connect('admin')
  let othersLeft = protocol.others.length
  const others = protocol.others.map(async (other) => {
    const session = await connect()
    while ((await notes.attempt(() => other(session, notes))) !== 'done') await turns(1)
    othersLeft -= 1
    await session.end()
  })
  const workers = Array.from({ length: WORKERS }, async (_, index) => {
    const session = await connect()
    let idle = 0
    while (idle < IDLE_LIMIT) {
      const leases = (await notes.attempt(() => protocol.claim(session, `w${index}`, notes))) ?? []
      idle = leases.length > 0 ? 0 : idle + 1
      notes.claimed.push(...leases)
      for (const lease of leases) await work(session, `w${index}`, lease, protocol, notes)
      if (idle > 0) {
        if (othersLeft === 0 && idle % 20 === 0 && (await protocol.isDrained(race.database.admin))) break
        await rest(session)
      }
    }
    await session.end()
  })
  await Promise.all([...workers, ...others])
  return report(race, protocol, notes)
}

async function work(
  session: pg.Client,
  worker: string,
  lease: HeldLease,
  protocol: ClaimProtocol,
  notes: Notes,
): Promise<void> {
  await turns(3)
  if (await notes.attempt(() => protocol.hold(session, lease, notes))) return
  if (await notes.attempt(() => protocol.complete(session, worker, lease))) notes.completed.push(lease)
  else notes.staleRefused += 1
}

async function report(race: Race, protocol: ClaimProtocol, notes: Notes): Promise<Report> {
  const history = await askList<HistoryLine>(race.admin, 'select to_jsonb(h) from race.history as h order by h.seq')
  const breaches = breachesOf(history)
  const overlaps = breaches.filter(({ promise }) => promise === 'one holder per key').length
  const known = new Set(['23505', '40P01'])
  return {
    claims: notes.claimed.length,
    completed: notes.completed.length,
    overlaps,
    uniqueViolations: notes.codes.get('23505') ?? 0,
    deadlocks: notes.codes.get('40P01') ?? 0,
    otherErrors: [...notes.codes.keys()].filter((code) => !known.has(code)),
    staleTaken: notes.staleTaken + takenWithoutEffect(history, notes.completed),
    staleRefused: notes.staleRefused,
    isDrained: await protocol.isDrained(race.database.admin),
    breaches: breaches.filter(({ promise }) => promise !== 'one holder per key').map(({ text }) => text),
  }
}

// A completion that was taken must have ended the job under that very lease.
function takenWithoutEffect(history: readonly HistoryLine[], completed: readonly HeldLease[]): number {
  const byJob = new Map<number, HistoryLine[]>()
  for (const line of history) {
    if (line.event === 'ended' && line.state === 'completed')
      byJob.set(line.job_id, [...(byJob.get(line.job_id) ?? []), line])
  }
  if (byJob.size === 0) return 0
  return completed.filter((lease) => linesOfLease(byJob.get(Number(lease.job_id)) ?? [], lease).length !== 1).length
}

/** Acknowledged jobs that are not in a final state. */
export async function lostJobs(race: Race, notes: Notes): Promise<string[]> {
  const ended = new Set(await askList<string>(race.admin, 'select job_id from holdfast.outcome'))
  return [...new Set(notes.acknowledged)].filter((id) => !ended.has(id))
}
