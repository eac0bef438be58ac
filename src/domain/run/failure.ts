// Describes whatever a handler threw as a small plain value that can always be stored: a failure that could not be
// written down would leave its job running. Never throws.

import { encodeInput } from '../value/json.js'
import { readProperty } from '../value/read-property.js'
import { LIMITS } from '../value/sizes.js'
import { sanitizeText, utf8Bytes } from '../value/text.js'

export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly cause?: Failure
  /** What a validator found, as { message, path }, or the errors that an AggregateError holds, as { message, name }. */
  readonly issues?: unknown[]
  /** The type of what was thrown (`string`, `undefined`, `object`…) when it was not an error. */
  readonly thrown?: string
}

/** At most LIMITS.errorBytes of JSON; long texts are cut with a mark, and chains of causes end after five. */
export function describeFailure(thrown: unknown): Failure {
  const whole = readFailure(thrown, MAX_CAUSES)
  // Escapes can make JSON six times as long as its text, so the fit is measured. At a 1/64 share every text has 32 bytes
  // and no issue is left, which fits in any case.
  for (let share = 1; share > 1 / 64; share /= 2) {
    const fitting = shortened(whole, share)
    if (storedBytes(fitting) <= LIMITS.errorBytes) return fitting
  }
  return shortened(whole, 1 / 64)
}

const MAX_CAUSES = 5
const MAX_ISSUES = 20

/** Everything is read once and in full here; cutting comes after. */
function readFailure(thrown: unknown, causesLeft: number): Failure {
  const message = readText(thrown, 'message')
  const stack = readText(thrown, 'stack')
  if (message === undefined && stack === undefined) return describeNonError(thrown)

  const code = readProperty(thrown, 'code')
  const cause = readProperty(thrown, 'cause')
  const issues = readIssues(thrown)
  return {
    name: readText(thrown, 'name') || 'Error',
    message: message ?? '',
    ...(stack === undefined ? {} : { stack }),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(cause === undefined || causesLeft === 0 ? {} : { cause: readFailure(cause, causesLeft - 1) }),
    ...(issues.length === 0 ? {} : { issues }),
  }
}

function describeNonError(thrown: unknown): Failure {
  const type = thrown === null ? 'null' : typeof thrown
  return { name: 'NonError', message: previewOf(thrown), thrown: type }
}

function previewOf(value: unknown): string {
  if (value === undefined || value === null) return `${value} was thrown`
  if (typeof value === 'function') return 'a function was thrown'
  if (typeof value !== 'object') return String(value)
  try {
    return encodeInput(value, 'output')
  } catch {
    return `an object with the properties ${namesOf(value)}`
  }
}

function namesOf(object: object): string {
  try {
    return Object.keys(object).slice(0, MAX_ISSUES).join(', ') || '(none)'
  } catch {
    return '(unreadable)'
  }
}

interface Issue {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly name?: string
}

/** Validators put issues on their error, HoldfastError into its details, AggregateError has errors. */
function readIssues(thrown: unknown): Issue[] {
  const found = [
    readProperty(thrown, 'issues'),
    readProperty(readProperty(thrown, 'details'), 'issues'),
    readProperty(thrown, 'errors'),
  ]
  for (const list of found) {
    const items = itemsOf(list, MAX_ISSUES)
    if (items.length > 0) return items.map(readIssue)
  }
  return []
}

function readIssue(issue: unknown): Issue {
  const name = readText(issue, 'name')
  const path = itemsOf(readProperty(issue, 'path'), LIMITS.depth)
  return {
    message: readText(issue, 'message') ?? previewOf(issue),
    ...(name === undefined ? {} : { name }),
    ...(path.length === 0 ? {} : { path: path.map(readPathStep) }),
  }
}

/** A Standard Schema path holds bare property keys or objects with a `key`. */
function readPathStep(step: unknown): string | number {
  const key = typeof step === 'object' ? readProperty(step, 'key') : step
  if (Number.isSafeInteger(key)) return key as number
  return typeof key === 'string' || typeof key === 'symbol' || typeof key === 'number' ? String(key) : '?'
}

function itemsOf(list: unknown, max: number): unknown[] {
  try {
    return Array.isArray(list) ? list.slice(0, max) : []
  } catch {
    return []
  }
}

function readText(value: unknown, name: string): string | undefined {
  const text = readProperty(value, name)
  return typeof text === 'string' ? text : undefined
}

/** A copy with every text cut to its share and made storable. */
function shortened(failure: Failure, share: number): Failure {
  const cut = (text: string, bytes: number) => sanitizeText(text, Math.max(32, Math.floor(bytes * share)))
  const message = cut(failure.message, 4_096)
  // A stack repeats its message; with a long one the frames behind it would be cut off.
  const stack = failure.stack?.replace(failure.message, () => message)
  const issues = (failure.issues as Issue[] | undefined)?.slice(0, Math.floor(MAX_ISSUES * share))
  return {
    name: cut(failure.name, 128),
    message,
    ...(stack === undefined ? {} : { stack: cut(stack, 6_144) }),
    ...(failure.code === undefined ? {} : { code: cut(failure.code, 128) }),
    ...(failure.cause === undefined ? {} : { cause: shortened(failure.cause, share / 2) }),
    ...(issues === undefined || issues.length === 0
      ? {}
      : { issues: issues.map((issue) => shortenedIssue(issue, cut)) }),
    ...(failure.thrown === undefined ? {} : { thrown: failure.thrown }),
  }
}

function shortenedIssue(issue: Issue, cut: (text: string, bytes: number) => string): Issue {
  return {
    message: cut(issue.message, 256),
    ...(issue.path === undefined
      ? {}
      : { path: issue.path.map((step) => (typeof step === 'number' ? step : cut(step, 64))) }),
    ...(issue.name === undefined ? {} : { name: cut(issue.name, 64) }),
  }
}

// Indented by one, JSON is never shorter than what jsonb prints with its blanks after commas and colons.
function storedBytes(failure: Failure): number {
  return utf8Bytes(JSON.stringify(failure, null, 1))
}
