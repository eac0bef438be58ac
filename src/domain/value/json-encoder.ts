// Writes a JavaScript value as JSON and refuses whatever JSON.stringify would silently change or PostgreSQL would not store.
// Each property is read once, so that what was checked is what is written.

import { type ErrorCode, HoldfastError } from '../error/errors.js'
import { readProperty } from './read-property.js'
import { LIMITS } from './sizes.js'
import { sanitizeText, textProblem, utf8Bytes } from './text.js'

export interface EncodingRules {
  /** The code of a refusal. */
  readonly code: ErrorCode
  /** What the value is to the user, the first word of a refusal. */
  readonly what: string
  readonly maxBytes: number
  /** What is measured: the JSON text itself, or the text that PostgreSQL prints for it once it is a jsonb. */
  readonly storedAs: 'text' | 'jsonb'
  readonly sortNames: boolean
  /** What undefined is inside the value: `omit` leaves out properties and refuses array items, `null` takes both as null. */
  readonly undefinedParts: 'omit' | 'null'
}

/** JSON text, or a HoldfastError with details { path, problem, limit?, received? }. Throws nothing else, whatever the value does. */
export function encodeJson(value: unknown, rules: EncodingRules): string {
  const walk: Walk = { rules, path: [], ancestors: [], bytes: 0, refusal: undefined }
  try {
    return encodePart(walk, value) ?? refuse(walk, 'is undefined, which JSON cannot express')
  } catch (thrown) {
    if (thrown === walk.refusal) throw thrown
    const message = readProperty(thrown, 'message')
    const said = typeof message === 'string' && message !== '' ? `: ${sanitizeText(message, 200)}` : ''
    return refuse(walk, `cannot be read, because its own code threw${said}`, {}, thrown)
  }
}

interface Walk {
  readonly rules: EncodingRules
  /** From the root to the part being written. */
  readonly path: (string | number)[]
  readonly ancestors: object[]
  bytes: number
  /** Tells our own refusal from an error thrown by a getter, a proxy or a toJSON. */
  refusal: HoldfastError | undefined
}

/** The part's text; undefined where JSON has nothing to write. */
function encodePart(walk: Walk, part: unknown): string | undefined {
  const value = typeof part === 'object' && part !== null ? jsonForm(walk, part) : part
  switch (typeof value) {
    case 'string':
      return encodeText(walk, value)
    case 'number':
      return encodeNumber(walk, value)
    case 'boolean':
      return spendPlain(walk, String(value))
    case 'undefined':
      return undefined
    case 'object':
      return value === null ? spendPlain(walk, 'null') : encodeContainer(walk, value)
    default:
      return refuse(walk, `is a ${typeof value}, which JSON cannot express`)
  }
}

function encodeText(walk: Walk, text: string): string {
  // Before anything is done to every character: a text has at least a byte per unit.
  if (text.length > walk.rules.maxBytes) refuseSize(walk, walk.bytes + text.length)
  const problem = textProblem(text)
  if (problem !== undefined) refuse(walk, problem)
  const encoded = JSON.stringify(text)
  return spend(walk, encoded, utf8Bytes(encoded))
}

function encodeNumber(walk: Walk, number: number): string {
  if (!Number.isFinite(number)) refuse(walk, `is ${number}, which JSON cannot express`)
  const text = JSON.stringify(number)
  return spend(walk, text, walk.rules.storedAs === 'jsonb' ? plainNumberLength(text) : text.length)
}

function encodeContainer(walk: Walk, container: object): string {
  if (walk.ancestors.includes(container)) refuse(walk, 'contains itself')
  if (walk.ancestors.length >= LIMITS.depth) {
    refuse(walk, `is nested deeper than ${LIMITS.depth} levels`, { limit: LIMITS.depth })
  }
  walk.ancestors.push(container)
  const text = Array.isArray(container) ? encodeArray(walk, container) : encodeObject(walk, container)
  walk.ancestors.pop()
  return text
}

function encodeArray(walk: Walk, array: readonly unknown[]): string {
  let text = spendPlain(walk, '[')
  for (let i = 0; i < array.length; i++) {
    walk.path.push(i)
    if (i > 0) text += separator(walk, ',')
    text += encodePart(walk, array[i]) ?? absentItem(walk)
    walk.path.pop()
  }
  return text + spendPlain(walk, ']')
}

function absentItem(walk: Walk): string {
  if (walk.rules.undefinedParts === 'null') return spendPlain(walk, 'null')
  return refuse(walk, 'is an undefined or missing item, which JSON would turn into null')
}

function encodeObject(walk: Walk, object: object): string {
  const names = Object.keys(object)
  if (walk.rules.sortNames) names.sort()
  let text = spendPlain(walk, '{')
  let isFirst = true
  for (const name of names) {
    walk.path.push(name)
    const value = encodePart(walk, (object as Record<string, unknown>)[name]) ?? absentProperty(walk)
    if (value !== undefined) {
      if (!isFirst) text += separator(walk, ',')
      text += encodeText(walk, name) + separator(walk, ':') + value
      isFirst = false
    }
    walk.path.pop()
  }
  return text + spendPlain(walk, '}')
}

function absentProperty(walk: Walk): string | undefined {
  return walk.rules.undefinedParts === 'null' ? spendPlain(walk, 'null') : undefined
}

/** jsonb prints a blank after each comma and colon. */
function separator(walk: Walk, sign: ',' | ':'): string {
  return spend(walk, sign, walk.rules.storedAs === 'jsonb' ? 2 : 1)
}

/** The value that stands for an object in JSON: what its toJSON gives, or the primitive that it wraps, or itself. */
function jsonForm(walk: Walk, object: object): unknown {
  // Ahead of toJSON, because a Buffer has one and would become a list of numbers four times its size.
  if (ArrayBuffer.isView(object)) refuse(walk, 'is binary data; encode it as a base64 text or store it elsewhere')
  const toJson = (object as { toJSON?: unknown }).toJSON
  if (typeof toJson !== 'function') return unwrapped(walk, object)

  if (tagOf(object) === 'Date' && Number.isNaN(Date.prototype.getTime.call(object))) {
    refuse(walk, 'is an invalid Date, which JSON would turn into null')
  }
  const form: unknown = toJson.call(object, String(walk.path.at(-1) ?? ''))
  return typeof form === 'object' && form !== null ? unwrapped(walk, form) : form
}

function unwrapped(walk: Walk, object: object): unknown {
  if (Array.isArray(object) || Object.getPrototypeOf(object) === Object.prototype) return object
  const tag = tagOf(object)
  if (tag === 'String') return String.prototype.valueOf.call(object)
  if (tag === 'Number') return Number.prototype.valueOf.call(object)
  if (tag === 'Boolean') return Boolean.prototype.valueOf.call(object)
  const advice = LOSSY.get(tag)
  if (advice !== undefined) refuse(walk, `is a ${tag}, which JSON would turn into {}; ${advice}`)
  return object
}

// By tag and not by class, so that values of another realm (vm, worker) are known too.
function tagOf(object: object): string {
  return Object.prototype.toString.call(object).slice('[object '.length, -1)
}

const LOSSY: ReadonlyMap<string, string> = new Map([
  ['Map', 'use Object.fromEntries(map) or [...map]'],
  ['Set', 'use [...set]'],
  ['WeakMap', 'leave it out'],
  ['WeakSet', 'leave it out'],
  ['WeakRef', 'leave it out'],
  ['Promise', 'await it first'],
  ['RegExp', 'use its source'],
  ['Error', 'use its message'],
  ['ArrayBuffer', 'encode it as a base64 text'],
  ['SharedArrayBuffer', 'encode it as a base64 text'],
  ['BigInt', 'use its text'],
  ['Symbol', 'leave it out'],
])

/** Length of a number as jsonb prints it: never with an exponent, so 1e308 has 309 digits. */
function plainNumberLength(text: string): number {
  if (!text.includes('e')) return text.length
  const [, sign = '', fraction = '', exponentText] = EXPONENT_FORM.exec(text) ?? []
  const exponent = Number(exponentText)
  if (exponent < 0) return sign.length + '0.'.length + fraction.length - exponent
  // JavaScript writes an exponent from 1e21 on, and never more than 17 digits: the point has always moved past the fraction.
  return sign.length + 1 + exponent
}

const EXPONENT_FORM = /^(-?)\d(?:\.(\d+))?e([+-]\d+)$/

/** Of a text that has a byte for each character. */
function spendPlain(walk: Walk, text: string): string {
  return spend(walk, text, text.length)
}

/** Counts the text's bytes and hands it back. Stops at the limit, since parts shared by many parents can multiply without end. */
function spend(walk: Walk, text: string, bytes: number): string {
  walk.bytes += bytes
  if (walk.bytes > walk.rules.maxBytes) refuseSize(walk, walk.bytes)
  return text
}

function refuseSize(walk: Walk, received: number): never {
  const limit = walk.rules.maxBytes
  walk.path.length = 0
  return refuse(walk, `is larger than ${limit} bytes (counted ${received} before stopping)`, { limit, received })
}

function refuse(
  walk: Walk,
  problem: string,
  statistics: { limit?: number; received?: number } = {},
  cause?: unknown,
): never {
  const path = pathText(walk.path)
  const options = { details: { path, problem, ...statistics }, ...(cause === undefined ? {} : { cause }) }
  walk.refusal = new HoldfastError(walk.rules.code, `${walk.rules.what} ${path} ${problem}`, options)
  throw walk.refusal
}

function pathText(path: readonly (string | number)[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`
    return /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  })
  return sanitizeText(`$${steps.join('')}`, 512)
}
