// What must hold after any interleaving, seen from what each session was told and from the history.

import type { Told } from './harness.js'
import { breachesOf, type HistoryLine, linesOfLease } from './history.js'
import type { Operation, Policy, Staged } from './operations.js'

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
  readonly operation: Operation
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
        ({ event, pid }) =>
          event === 'revived' && !parts.some((p) => p.told.pid === pid && p.operation.word === 'retry'),
      )
      .map(({ job_id }) => `job ${job_id} left its final state without a retry`),
  ]
}

function brokenOrWaited({ operation, told }: Part, policy: Policy): string[] {
  const mayWait = typeof operation.mayWait === 'boolean' ? operation.mayWait : operation.mayWait(policy)
  return [
    // Refusals are class JH; anything else, a deadlock or a unique violation above all, must not escape.
    ...(told.code === undefined || told.code.startsWith('JH') ? [] : [`${operation.name} broke with ${told.code}`]),
    ...(told.waited && !mayWait ? [`${operation.name} waited`] : []),
  ]
}

// A write by a lease is taken if and only if that lease was there to be written by.
function wronglyAnswered(part: Part, parts: readonly Part[], staged: Staged, { history }: Verdict): string[] {
  const { operation, told } = part
  const lease = operation.presents && staged[operation.presents]
  if (!lease || !operation.isAccepted) return []
  const left = linesOfLease(history, lease).find(({ event }) => event === 'left')
  const leftBy = parts.find((other) => other.told.pid === left?.pid)

  if (!operation.isAccepted(told.rows)) {
    return operation.presents === 'lease' && left === undefined ? [`${operation.name} was refused to the holder`] : []
  }
  if (operation.presents === 'stale') return [`${operation.name} was taken`]
  if (operation.word === 'renew') {
    return leftBy && leftBy.over < told.began ? [`renew was granted after ${leftBy.operation.name}`] : []
  }
  // A repeated settlement by the same lease is told the same again.
  if (leftBy?.operation.word !== operation.word)
    return [`${operation.name} was taken, but ${leftBy?.operation.name ?? 'nothing'} ended the lease`]
  const isEnded = linesOfLease(history, lease).some(({ event, state }) => event === 'ended' && state === 'completed')
  return operation.word === 'complete' && !isEnded ? ['complete was taken without a completed job'] : []
}

function notAsTold({ operation, told }: Part, { history, jobs }: Verdict): string[] {
  const claimed = history.filter(({ event, pid }) => event === 'claimed' && pid === told.pid).map((line) => line.job_id)
  if (operation.word === 'enqueue') {
    return told.rows.filter(({ id }) => !jobs.includes(Number(id))).map(({ id }) => `enqueued job ${id} is lost`)
  }
  if (operation.word !== 'claim') return []
  const toldCount = told.rows.filter((row) => row.is_mine ?? true).length
  return claimed.length === toldCount ? [] : [`${operation.name} told of ${toldCount} jobs and took ${claimed.length}`]
}
