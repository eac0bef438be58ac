// The auditor: reads what the triggers of recorder.sql wrote and says which promises it breaks.

export interface HistoryLine {
  readonly pid: number
  readonly event: 'claimed' | 'left' | 'ended' | 'revived'
  readonly job_id: number
  readonly key: string | null
  readonly token: number
  readonly lease_id: string | null
  readonly state: string | null
}

export interface Breach {
  readonly promise: 'one holder per key' | 'one lease per job' | 'tokens grow' | 'final states stay'
  readonly text: string
}

/** `history` in the order of its lines. */
export function breachesOf(history: readonly HistoryLine[]): Breach[] {
  const breaches: Breach[] = []
  const leases = new Map<number, HistoryLine>()
  const holders = new Map<string, Set<number>>()
  const tokens = new Map<string, number>()
  const final = new Set<number>()
  const tell = (promise: Breach['promise'], text: string) => breaches.push({ promise, text })

  for (const line of history) {
    const { event, job_id, key, token } = line
    const ofKey = holders.get(key ?? '') ?? new Set()
    if (key !== null) holders.set(key, ofKey)
    switch (event) {
      case 'claimed': {
        if (ofKey.size > 0) tell('one holder per key', `job ${job_id} was claimed while ${[...ofKey]} held key ${key}`)
        if (leases.has(job_id)) tell('one lease per job', `job ${job_id} was claimed twice`)
        if (final.has(job_id)) tell('final states stay', `job ${job_id} was claimed after its end`)
        for (const fence of key === null ? [`job ${job_id}`] : [`job ${job_id}`, `key ${key}`]) {
          if (token <= (tokens.get(fence) ?? 0)) tell('tokens grow', `${fence} got token ${token} again`)
          tokens.set(fence, token)
        }
        leases.set(job_id, line)
        if (key !== null) ofKey.add(job_id)
        break
      }
      case 'left':
        if (leases.get(job_id)?.token !== token) tell('one lease per job', `job ${job_id} left a lease it did not have`)
        leases.delete(job_id)
        ofKey.delete(job_id)
        break
      case 'ended':
        if (final.has(job_id)) tell('final states stay', `job ${job_id} ended twice`)
        if (leases.has(job_id)) tell('final states stay', `job ${job_id} ended and runs`)
        final.add(job_id)
        break
      case 'revived':
        final.delete(job_id)
    }
  }
  return breaches
}

/** The line in which that very lease was claimed, left or ended. */
export function linesOfLease(
  history: readonly HistoryLine[],
  lease: { readonly job_id: number | string; readonly token: number | string; readonly lease_id: string },
): HistoryLine[] {
  return history.filter(
    ({ job_id, token, lease_id }) =>
      job_id === Number(lease.job_id) && token === Number(lease.token) && lease_id === lease.lease_id,
  )
}
