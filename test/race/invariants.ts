// What must hold after any interleaving, seen from what each session was told and from the history.

import type { Told } from './harness.js'
import { breachesOf, type HistoryLine, linesOfLease } from './history.js'
import type { Deed, Policy, Staged } from './operations.js'

export interface Verdict {
  /** What check_places found. */
  readonly problems: readonly string[]
  readonly jobs: readonly number[]
  readonly history: readonly HistoryLine[]
  /** Jobs that no amount of claiming, completing and reaping brings to an end. */
  readonly stuck?: readonly number[]
}

/** One session's part in a race. */
export interface Part {
  readonly deed: Deed
  readonly told: Told
  /** When its transaction was over, in ticks of the play. */
  readonly over: number
  readonly hasCommitted: boolean
}

export function violationsOf(parts: readonly Part[], staged: Staged, policy: Policy, verdict: Verdict): string[] {
  return [
    ...verdict.problems,
    ...(verdict.stuck ?? []).map((id) => `job ${id} cannot be ended any more`),
    ...breachesOf(verdict.history).map(({ text }) => text),
    ...parts.flatMap((part) => [
      ...brokenOrWaited(part, policy),
      ...(part.hasCommitted && part.told.code === undefined
        ? [...wronglyAnswered(part, parts, staged, verdict), ...notAsTold(part, verdict)]
        : []),
    ]),
    ...verdict.history
      .filter(
        ({ event, pid }) => event === 'revived' && !parts.some((p) => p.told.pid === pid && p.deed.word === 'retry'),
      )
      .map(({ job_id }) => `job ${job_id} left its final state without a retry`),
  ]
}

function brokenOrWaited({ deed, told }: Part, policy: Policy): string[] {
  const mayWait = typeof deed.mayWait === 'boolean' ? deed.mayWait : deed.mayWait(policy)
  return [
    // Refusals are class JH; anything else, a deadlock or a unique violation above all, must not escape.
    ...(told.code === undefined || told.code.startsWith('JH') ? [] : [`${deed.name} broke with ${told.code}`]),
    ...(told.waited && !mayWait ? [`${deed.name} waited`] : []),
  ]
}

// A write by a lease is taken if and only if that lease was there to be written by.
function wronglyAnswered(part: Part, parts: readonly Part[], staged: Staged, { history }: Verdict): string[] {
  const { deed, told } = part
  const lease = deed.presents && staged[deed.presents]
  if (!lease || !deed.isAccepted) return []
  const left = linesOfLease(history, lease).find(({ event }) => event === 'left')
  const leftBy = parts.find((other) => other.told.pid === left?.pid)

  if (!deed.isAccepted(told.rows)) {
    return deed.presents === 'lease' && left === undefined ? [`${deed.name} was refused to the holder`] : []
  }
  if (deed.presents === 'stale') return [`${deed.name} was taken`]
  if (deed.word === 'renew') {
    return leftBy && leftBy.over < told.began ? [`renew was granted after ${leftBy.deed.name}`] : []
  }
  // A repeated settlement by the same lease is told the same again.
  if (leftBy?.deed.word !== deed.word)
    return [`${deed.name} was taken, but ${leftBy?.deed.name ?? 'nothing'} ended the lease`]
  const isEnded = linesOfLease(history, lease).some(({ event, state }) => event === 'ended' && state === 'completed')
  return deed.word === 'complete' && !isEnded ? ['complete was taken without a completed job'] : []
}

function notAsTold({ deed, told }: Part, { history, jobs }: Verdict): string[] {
  const claimed = history.filter(({ event, pid }) => event === 'claimed' && pid === told.pid).map((line) => line.job_id)
  if (deed.word === 'enqueue') {
    return told.rows.filter(({ id }) => !jobs.includes(Number(id))).map(({ id }) => `enqueued job ${id} is lost`)
  }
  if (deed.word !== 'claim') return []
  const toldCount = told.rows.filter((row) => row.is_mine ?? true).length
  return claimed.length === toldCount ? [] : [`${deed.name} told of ${toldCount} jobs and took ${claimed.length}`]
}
