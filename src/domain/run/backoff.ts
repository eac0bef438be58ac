// How long a failed job waits before its next attempt. The SQL that fails and reaps jobs holds the same formula,
// since a job whose worker died gets its delay without any TypeScript: change both or neither.

export interface BackoffPolicy {
  readonly baseMs: number
  readonly maxMs: number
}

/**
 * Doubles with each attempt (counted from 1) up to `maxMs`, then takes half of it for certain and half by `chance` (0 to 1):
 * jobs that failed together come back spread out, yet none comes back at once.
 */
export function backoffMs(policy: BackoffPolicy, attempt: number, chance: number): number {
  const doublings = Math.min(attempt - 1, MAX_DOUBLINGS)
  const raw = Math.min(policy.maxMs, policy.baseMs * 2 ** doublings)
  return Math.min(policy.maxMs, Math.round(raw * (0.5 + 0.5 * chance)))
}

// One millisecond doubled 60 times is 36 million years; beyond 1,023 a double overflows, which SQL's power() answers with an error.
const MAX_DOUBLINGS = 60
