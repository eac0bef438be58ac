import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isHoldfastError } from '../error/errors.js'
import { LIMITS } from '../value/json.js'
import { canonicalKey } from './key.js'

describe('canonicalKey', () => {
  test.each([
    ['a text stands for itself', 'customer 7', 'customer 7'],
    ['names are sorted at every level', { b: 1, a: [{ d: 1, c: 2 }] }, '{"a":[{"c":2,"d":1}],"b":1}'],
    ['null and undefined are both null', { a: null, b: undefined, c: [undefined] }, '{"a":null,"b":null,"c":[null]}'],
    ['minus zero is zero', { a: -0 }, '{"a":0}'],
    ['a number', 7, '7'],
    ['null', null, 'null'],
    ['a Date by its toJSON', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['a large number as it is written', 1e308, '1e+308'],
  ])('%s', (_title, key, expected) => {
    expect(canonicalKey(key)).toBe(expected)
  })

  test('a part that is undefined counts as a value and not as absent', () => {
    expect(canonicalKey({ a: 1, b: undefined })).toBe(canonicalKey({ a: 1, b: null }))
    expect(canonicalKey({ a: 1, b: undefined })).not.toBe(canonicalKey({ a: 1 }))
  })

  const circular: Record<string, unknown> = {}
  circular.self = circular

  test.each([
    ['an empty text', ''],
    ['a text with NUL', 'a\u0000'],
    ['a text with half a pair', '\ud83d'],
    ['a text that is too long', 'x'.repeat(LIMITS.keyBytes + 1)],
    ['a text that is too long in UTF-8', 'é'.repeat(LIMITS.keyBytes / 2 + 1)],
    ['an object that is too long', { a: 'x'.repeat(LIMITS.keyBytes) }],
    ['an endless list of holes', new Array(2_000_000_000)],
    ['NaN', { a: Number.NaN }],
    ['a function', { a: () => 1 }],
    ['a symbol', { a: Symbol('s') }],
    ['a bigint', 7n],
    ['a circle', circular],
    ['a Map', new Map()],
    ['undefined', undefined],
  ])('%s is refused', (_title, key) => {
    expect(() => canonicalKey(key as never)).toThrow(/^key /)
    expect(codeOf(() => canonicalKey(key as never))).toBe('INVALID_OPTION')
  })

  test('the limit itself passes, as text and as JSON', () => {
    expect(canonicalKey('é'.repeat(LIMITS.keyBytes / 2))).toHaveLength(LIMITS.keyBytes / 2)
    expect(canonicalKey(['x'.repeat(LIMITS.keyBytes - 6), 1])).toHaveLength(LIMITS.keyBytes)
  })

  const smallJson = fc.jsonValue({ maxDepth: 2 }).filter((value) => JSON.stringify(value).length <= 400)
  const keys = smallJson.filter((value) => typeof value !== 'string') as fc.Arbitrary<object>

  test('the order of properties does not matter', () => {
    fc.assert(fc.property(keys, (key) => canonicalKey(reversed(key) as object) === canonicalKey(key)))
  })

  test('different values give different keys', () => {
    const pairs = fc.tuple(keys, keys).map(([a, b]) => [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))])
    fc.assert(
      fc.property(pairs, ([a, b]) => (canonicalKey(a) === canonicalKey(b)) === isDeepStrictEqual(a, b)),
      { numRuns: 500 },
    )
  })

  test('the JSON of a key is the same value', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(JSON.parse(canonicalKey(key))).toEqual(JSON.parse(JSON.stringify(key)))
      }),
    )
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, part]) => [name, reversed(part)])
  return Object.fromEntries(entries.reverse())
}

function codeOf(act: () => unknown): string | undefined {
  try {
    act()
  } catch (error) {
    return isHoldfastError(error) ? error.code : undefined
  }
  return undefined
}
