// Writes a JavaScript value as JSON and refuses whatever JSON.stringify would silently change or PostgreSQL would not store.
// Each property is read once, so that what was checked is what is written.

import { type ErrorCode, HoldfastError } from '../error/errors.js'
import { readProperty } from './read-property.js'
import { LIMITS } from './sizes.js'
import { sanitizeText, textProblem, utf8Bytes } from './text.js'

export interface EncodingRules {
  /** The code of a refusal. */
  readonly code: ErrorCode
  /** What the user calls the value: the first word of a refusal. */
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
  const encoding: Encoding = { rules, path: [], ancestors: [], bytes: 0, refusal: undefined }
  try {
    return encodePart(encoding, value) ?? refuse(encoding, 'is undefined, which JSON cannot express')
  } catch (thrown) {
    if (thrown === encoding.refusal) throw thrown
    const message = readProperty(thrown, 'message')
    const said = typeof message === 'string' && message !== '' ? `: ${sanitizeText(message, 200)}` : ''
    return refuse(encoding, `cannot be read, because its own code threw${said}`, {}, thrown)
  }
}

interface Encoding {
  readonly rules: EncodingRules
  /** From the root to the part being written. */
  readonly path: (string | number)[]
  readonly ancestors: object[]
  bytes: number
  /** Distinguishes our own refusal from an error that a getter, a proxy or a toJSON throws. */
  refusal: HoldfastError | undefined
}

/** The part's text; undefined where JSON has nothing to write. */
function encodePart(encoding: Encoding, part: unknown): string | undefined {
  const value = typeof part === 'object' && part !== null ? jsonForm(encoding, part) : part
  switch (typeof value) {
    case 'string':
      return encodeText(encoding, value)
    case 'number':
      return encodeNumber(encoding, value)
    case 'boolean':
      return spendPlain(encoding, String(value))
    case 'undefined':
      return undefined
    case 'object':
      return value === null ? spendPlain(encoding, 'null') : encodeContainer(encoding, value)
    default:
      return refuse(encoding, `is a ${typeof value}, which JSON cannot express`)
  }
}

function encodeText(encoding: Encoding, text: string): string {
  // Before anything is done to every character: a text has at least a byte per unit.
  if (text.length > encoding.rules.maxBytes) refuseSize(encoding, encoding.bytes + text.length)
  const problem = textProblem(text)
  if (problem !== undefined) refuse(encoding, problem)
  const encoded = JSON.stringify(text)
  return spend(encoding, encoded, utf8Bytes(encoded))
}

function encodeNumber(encoding: Encoding, number: number): string {
  if (!Number.isFinite(number)) refuse(encoding, `is ${number}, which JSON cannot express`)
  const text = JSON.stringify(number)
  return spend(encoding, text, encoding.rules.storedAs === 'jsonb' ? plainNumberLength(text) : text.length)
}

function encodeContainer(encoding: Encoding, container: object): string {
  if (encoding.ancestors.includes(container)) refuse(encoding, 'contains itself')
  if (encoding.ancestors.length >= LIMITS.depth) {
    refuse(encoding, `is nested deeper than ${LIMITS.depth} levels`, { limit: LIMITS.depth })
  }
  encoding.ancestors.push(container)
  const text = Array.isArray(container) ? encodeArray(encoding, container) : encodeObject(encoding, container)
  encoding.ancestors.pop()
  return text
}

function encodeArray(encoding: Encoding, array: readonly unknown[]): string {
  let text = spendPlain(encoding, '[')
  for (let i = 0; i < array.length; i++) {
    encoding.path.push(i)
    if (i > 0) text += separator(encoding, ',')
    text += encodePart(encoding, array[i]) ?? absentItem(encoding)
    encoding.path.pop()
  }
  return text + spendPlain(encoding, ']')
}

function absentItem(encoding: Encoding): string {
  if (encoding.rules.undefinedParts === 'null') return spendPlain(encoding, 'null')
  return refuse(encoding, 'is an undefined or missing item, which JSON would turn into null')
}

function encodeObject(encoding: Encoding, object: object): string {
  const names = Object.keys(object)
  if (encoding.rules.sortNames) names.sort()
  let text = spendPlain(encoding, '{')
  let isFirst = true
  for (const name of names) {
    encoding.path.push(name)
    const value = encodePart(encoding, (object as Record<string, unknown>)[name]) ?? absentProperty(encoding)
    if (value !== undefined) {
      if (!isFirst) text += separator(encoding, ',')
      text += encodeText(encoding, name) + separator(encoding, ':') + value
      isFirst = false
    }
    encoding.path.pop()
  }
  return text + spendPlain(encoding, '}')
}

function absentProperty(encoding: Encoding): string | undefined {
  return encoding.rules.undefinedParts === 'null' ? spendPlain(encoding, 'null') : undefined
}

/** jsonb prints a blank after each comma and colon. */
function separator(encoding: Encoding, sign: ',' | ':'): string {
  return spend(encoding, sign, encoding.rules.storedAs === 'jsonb' ? 2 : 1)
}

/** The value that stands for an object in JSON: what its toJSON returns, or the primitive that it wraps, or itself. */
function jsonForm(encoding: Encoding, object: object): unknown {
  // Ahead of toJSON, because a Buffer has one and would become a list of numbers four times its size.
  if (ArrayBuffer.isView(object)) refuse(encoding, 'is binary data; encode it as a base64 text or store it elsewhere')
  const toJson = (object as { toJSON?: unknown }).toJSON
  if (typeof toJson !== 'function') return unwrapped(encoding, object)

  if (tagOf(object) === 'Date' && Number.isNaN(Date.prototype.getTime.call(object))) {
    refuse(encoding, 'is an invalid Date, which JSON would turn into null')
  }
  const form: unknown = toJson.call(object, String(encoding.path.at(-1) ?? ''))
  return typeof form === 'object' && form !== null ? unwrapped(encoding, form) : form
}

function unwrapped(encoding: Encoding, object: object): unknown {
  if (Array.isArray(object) || Object.getPrototypeOf(object) === Object.prototype) return object
  const tag = tagOf(object)
  if (tag === 'String') return String.prototype.valueOf.call(object)
  if (tag === 'Number') return Number.prototype.valueOf.call(object)
  if (tag === 'Boolean') return Boolean.prototype.valueOf.call(object)
  const advice = LOSSY.get(tag)
  if (advice !== undefined) refuse(encoding, `is a ${tag}, which JSON would turn into {}; ${advice}`)
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
function spendPlain(encoding: Encoding, text: string): string {
  return spend(encoding, text, text.length)
}

/** Counts the text's bytes and hands it back. Stops at the limit, since parts shared by many parents can multiply without end. */
function spend(encoding: Encoding, text: string, bytes: number): string {
  encoding.bytes += bytes
  if (encoding.bytes > encoding.rules.maxBytes) refuseSize(encoding, encoding.bytes)
  return text
}

function refuseSize(encoding: Encoding, received: number): never {
  const limit = encoding.rules.maxBytes
  encoding.path.length = 0
  return refuse(encoding, `is larger than ${limit} bytes (counted ${received} before stopping)`, { limit, received })
}

function refuse(
  encoding: Encoding,
  problem: string,
  statistics: { limit?: number; received?: number } = {},
  cause?: unknown,
): never {
  const path = pathText(encoding.path)
  const options = { details: { path, problem, ...statistics }, ...(cause === undefined ? {} : { cause }) }
  encoding.refusal = new HoldfastError(encoding.rules.code, `${encoding.rules.what} ${path} ${problem}`, options)
  throw encoding.refusal
}

function pathText(path: readonly (string | number)[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`
    return /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  })
  return sanitizeText(`$${steps.join('')}`, 512)
}
