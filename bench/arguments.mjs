// What `npm run bench` was asked for, read from its arguments.
import { parseArgs } from 'node:util'

/** In the order in which they run and are printed. */
export const PARTS = [
  'drain',
  'limit',
  'enqueue',
  'latency',
  'chain',
  'fanout',
  'fleet',
  'standing',
  'mixed',
  'snapshot',
  'backlog',
  'idle',
]

/** The caller asked for something that does not exist; the message says what to do. */
export class UsageError extends Error {}

/**
 * @typedef {{ parts: string[], quick: boolean, runs: number, drained: number, against?: string }} Wanted
 * @param {string[]} args
 * @returns {Wanted}
 */
export function readArguments(args) {
  const { values: flags, positionals: names } = parsed(args)
  const unknown = names.find((name) => !PARTS.includes(name))
  if (unknown !== undefined) throw new UsageError(`no part is called "${unknown}"; there are ${PARTS.join(', ')}`)
  const { against, quick = false } = flags
  if (against !== undefined && names.length === 0) {
    throw new UsageError(
      `--against ${against} names no part; name at least one, such as "drain --against ${against}"; there are ${PARTS.join(', ')}`,
    )
  }
  return {
    parts: PARTS.filter((name) => names.length === 0 || names.includes(name)),
    quick,
    runs: wholeNumber(flags.runs ?? (quick ? '1' : '5'), '--runs'),
    drained: wholeNumber(flags.jobs ?? (quick ? '5000' : '100000'), '--jobs'),
    against,
  }
}

function parsed(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        runs: { type: 'string' },
        jobs: { type: 'string' },
        against: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error.message)
  }
}

function wholeNumber(text, name) {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new UsageError(`${name} must be a whole number from 1, not "${text}"`)
}
