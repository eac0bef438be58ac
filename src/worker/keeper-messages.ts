// What a worker and its keeper thread tell each other. The jobs of a claim share one lease id and travel as text: copying a
// string between threads costs almost nothing, copying thousands of objects costs more than running the jobs.

import type { DatabaseAddress } from '../store/open.js'
import type { Lease } from '../store/settle.js'
import type { WorkerLoad, WorkerRow } from '../store/workers.js'
import type { TimedLease } from './lease-keeper.js'

/** Leases so short that a tick of a second is too long for them cannot wait for the keeper's next. */
export const SHORT_LEASE_MS = 4000

/** What the thread is started with. */
export interface KeeperThreadData {
  readonly database: DatabaseAddress
  readonly schema: string
  readonly row: WorkerRow
  /** false: its session takes the worker's lock only when it is told to. */
  readonly takesLock: boolean
  /** The memory of a LeaseBoard. */
  readonly board: SharedArrayBuffer
  /** The memory of a Rest, and how long it may last. */
  readonly rest: SharedArrayBuffer
  readonly restMs: number
}

export interface HoldMessage {
  readonly kind: 'hold'
  readonly leaseId: string
  /** When the claim was sent, by monotonicMs(). */
  readonly claimedAt: number
  readonly count: number
  readonly shortestMs: number
  /** `token leaseMs ids`, semicolon, the next who have those in common; commas between ids. */
  readonly leases: string
}

export interface DropMessage {
  readonly kind: 'drop'
  readonly leaseId: string
  readonly count: number
  /** Ids with commas between. */
  readonly ids: string
}

export type ToKeeper =
  | HoldMessage
  | DropMessage
  | { readonly kind: 'load'; readonly load: WorkerLoad }
  /** The worker's lock is free for the keeper's session. */
  | { readonly kind: 'lock' }
  | { readonly kind: 'stop' }

export type FromKeeper =
  | { readonly kind: 'ready' }
  | { readonly kind: 'lost'; readonly leases: readonly Lease[] }
  | { readonly kind: 'overdue'; readonly leases: readonly Lease[] | 'all' }
  | { readonly kind: 'healthy'; readonly isHealthy: boolean }
  | { readonly kind: 'silence'; readonly inMs: number }
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'fault'; readonly doing: string; readonly message: string }

/** One message for each lease id among them, which is one for a claim. */
export function holdMessages(leases: readonly TimedLease[], claimedAt: number): HoldMessage[] {
  return [...byLeaseId(leases)].map(([leaseId, members]) => ({
    kind: 'hold',
    leaseId,
    claimedAt,
    count: members.length,
    shortestMs: members.reduce((shortest, { leaseMs }) => Math.min(shortest, leaseMs), Number.POSITIVE_INFINITY),
    leases: told(members),
  }))
}

/** The jobs of a claim are alike: nearly always their ids are all that there is to tell of each. */
function told(members: readonly TimedLease[]): string {
  let text = ''
  let last: TimedLease | undefined
  for (const lease of members) {
    const isLike = last?.token === lease.token && last.leaseMs === lease.leaseMs
    text += isLike ? `,${lease.id}` : `${last ? ';' : ''}${lease.token} ${lease.leaseMs} ${lease.id}`
    last = lease
  }
  return text
}

export function dropMessages(leases: readonly Pick<Lease, 'id' | 'leaseId'>[]): DropMessage[] {
  return [...byLeaseId(leases)].map(([leaseId, members]) => ({
    kind: 'drop',
    leaseId,
    count: members.length,
    ids: members.map(({ id }) => id).join(),
  }))
}

export function heldLeases({ leaseId, leases }: HoldMessage): TimedLease[] {
  return leases.split(';').flatMap((part) => {
    const [token, leaseMs, ids] = part.split(' ') as [string, string, string]
    return ids.split(',').map((id) => ({ id, token, leaseId, leaseMs: Number(leaseMs) }))
  })
}

function byLeaseId<L extends Pick<Lease, 'leaseId'>>(leases: readonly L[]): Map<string, L[]> {
  const groups = new Map<string, L[]>()
  for (const lease of leases) {
    const known = groups.get(lease.leaseId)
    if (known) known.push(lease)
    else groups.set(lease.leaseId, [lease])
  }
  return groups
}
