// What a worker and its keeper thread tell each other. Leases travel as text, thousands in one string: copying a string
// between threads costs almost nothing, copying thousands of objects costs more than running the jobs.

import type { Lease } from '../store/settle.js'
import type { TimedLease } from './lease-keeper.js'

export type ToKeeper =
  | { readonly kind: 'hold'; readonly leases: string; readonly claimedAt: number; readonly shortestMs: number }
  | { readonly kind: 'drop'; readonly leases: string }
  | { readonly kind: 'stop' }

export type FromKeeper =
  | { readonly kind: 'ready' }
  | { readonly kind: 'lost'; readonly leases: readonly Lease[] }
  | { readonly kind: 'overdue'; readonly leases: readonly Lease[] | 'all' }
  | { readonly kind: 'healthy'; readonly isHealthy: boolean }
  | { readonly kind: 'fault'; readonly doing: string; readonly message: string }

export function packHeld(leases: readonly TimedLease[]): string {
  return leases.map(({ id, token, leaseId, leaseMs }) => `${id} ${token} ${leaseId} ${leaseMs}`).join()
}

export function unpackHeld(text: string): TimedLease[] {
  return text.split(',').map((part) => {
    const [id, token, leaseId, leaseMs] = part.split(' ') as [string, string, string, string]
    return { id, token, leaseId, leaseMs: Number(leaseMs) }
  })
}

export function packDropped(leases: readonly Pick<Lease, 'id' | 'leaseId'>[]): string {
  return leases.map(({ id, leaseId }) => `${id} ${leaseId}`).join()
}

export function unpackDropped(text: string): Pick<Lease, 'id' | 'leaseId'>[] {
  return text.split(',').map((part) => {
    const [id, leaseId] = part.split(' ') as [string, string]
    return { id, leaseId }
  })
}
