import vm from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type HoldfastError, isHoldfastError } from '../error/errors.js'
import { hostileValues } from '../run/hostile-values.test-support.js'
import { encodeInput, LIMITS } from './json.js'

describe('what is accepted', () => {
  test('nothing given is {} for an input and null for an output', () => {
    expect(encodeInput(undefined, 'input')).toBe('{}')
    expect(encodeInput(undefined, 'output')).toBe('null')
  })

  test.each([
    ['a primitive at the top', 5, '5'],
    ['null', null, 'null'],
    ['minus zero', -0, '0'],
    ['an undefined property, left out', { a: undefined, b: 1 }, '{"b":1}'],
    ['a Date', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['an object with toJSON', { toJSON: () => ({ a: [1] }) }, '{"a":[1]}'],
    ['wrapped primitives', [new String('a'), new Number(1), new Boolean(false)], '["a",1,false]'],
    ['control characters other than NUL', '\u0001\n"\\', '"\\u0001\\n\\"\\\\"'],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['a symbol as name, left out', { [Symbol('s')]: 1 }, '{}'],
    ['empty containers', [{}, [], ''], '[{},[],""]'],
  ])('%s', (_title, value, expected) => {
    expect(encodeInput(value, 'input')).toBe(expected)
  })

  test('an instance of a class is taken by its own enumerable properties', () => {
    class Point {
      x = 1
      #hidden = 2
      get sum() {
        return this.x + this.#hidden
      }
    }

    expect(encodeInput(new Point(), 'input')).toBe('{"x":1}')
  })

  test('an own property named __proto__ is data', () => {
    const value = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}')

    expect(encodeInput(value, 'input')).toBe('{"__proto__":{"isAdmin":true},"constructor":1}')
    expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false)
  })

  test('a part that occurs twice without containing itself is no circle', () => {
    const shared = { a: 1 }

    expect(encodeInput([shared, shared], 'input')).toBe('[{"a":1},{"a":1}]')
  })

  test('toJSON gets the name under which the value stands', () => {
    const named = { toJSON: (name: string) => name }

    expect(encodeInput({ a: named, list: [named] }, 'input')).toBe('{"a":"a","list":["0"]}')
  })

  test('every property is read once, so that what was checked is what is written', () => {
    let reads = 0
    const value = {
      get a() {
        reads += 1
        return reads === 1 ? 'first' : Number.NaN
      },
    }

    expect(encodeInput(value, 'input')).toBe('{"a":"first"}')
    expect(reads).toBe(1)
  })
})

describe('what is refused', () => {
  const circular: Record<string, unknown> = { list: [] }
  ;(circular.list as unknown[]).push(circular)

  test.each([
    ['a circle', circular, '$.list[0]', 'contains itself'],
    ['a bigint', { a: 1n }, '$.a', 'bigint'],
    ['a function', { a: () => 1 }, '$.a', 'function'],
    ['a symbol', [Symbol('s')], '$[0]', 'symbol'],
    ['NaN', { rows: [0, 1, 2, { name: Number.NaN }] }, '$.rows[3].name', 'NaN'],
    ['Infinity', Number.NEGATIVE_INFINITY, '$', '-Infinity'],
    ['a text with NUL', { a: 'x\u0000' }, '$.a', '\\u0000'],
    ['a property name with NUL', { 'x\u0000': 1 }, '$["x\\u0000"]', '\\u0000'],
    ['half a surrogate pair', ['\ud83d'], '$[0]', 'surrogate'],
    ['a property name with half a pair', { '\ude00': 1 }, '$["\\ude00"]', 'surrogate'],
    ['an undefined array item', [1, undefined], '$[1]', 'missing item'],
    ['a hole in an array', { a: new Array(2_000_000_000) }, '$.a[0]', 'missing item'],
    ['a Map', { a: new Map([[1, 2]]) }, '$.a', 'Object.fromEntries'],
    ['a Set', { a: new Set([1]) }, '$.a', '[...set]'],
    ['a Buffer', { a: Buffer.from('x') }, '$.a', 'binary'],
    ['a typed array', new Float64Array(1), '$', 'binary'],
    ['an ArrayBuffer', new ArrayBuffer(1), '$', 'ArrayBuffer'],
    ['a promise that was not awaited', { a: Promise.resolve(1) }, '$.a', 'await it'],
    ['an Error', { a: new Error('x') }, '$.a', 'message'],
    ['a Map of another realm', vm.runInNewContext('new Map()'), '$', 'Map'],
    ['an invalid Date', { at: new Date(Number.NaN) }, '$.at', 'invalid Date'],
    ['a toJSON that gives undefined at the top', { toJSON: () => undefined }, '$', 'undefined'],
    ['a toJSON that gives a bigint', { a: { toJSON: () => 1n } }, '$.a', 'bigint'],
    ['a toJSON that gives a Map', { a: { toJSON: () => new Map() } }, '$.a', 'Map'],
  ])('%s', (_title, value, path, problem) => {
    const refusal = refusalOf(value, 'input')

    expect(refusal.code).toBe('INVALID_INPUT')
    expect(refusal.details.path).toBe(path)
    expect(refusal.details.problem).toContain(problem)
    expect(refusal.message).toBe(`input ${refusal.details.path} ${refusal.details.problem}`)
    expect(refusalOf(value, 'output').code).toBe('INVALID_OUTPUT')
  })

  test('a toJSON or getter that throws is named with its place and kept as cause', () => {
    const cause = new Error('no session')
    const fail = () => {
      throw cause
    }

    for (const part of [{ toJSON: fail }, Object.defineProperty({}, 'x', { get: fail, enumerable: true })]) {
      const refusal = refusalOf({ a: [part] }, 'input')
      expect(refusal.details.path).toMatch(/^\$\.a\[0\]/)
      expect(refusal.details.problem).toContain('no session')
      expect(refusal.cause).toBe(cause)
    }
  })

  test('an error of ours that a toJSON throws does not pass for a refusal', () => {
    const inner = refusalOf(1n, 'output')
    const value = {
      toJSON() {
        throw inner
      },
    }

    expect(refusalOf(value, 'input')).toMatchObject({ code: 'INVALID_INPUT', cause: inner })
  })

  test('the path stays short when names are long', () => {
    const refusal = refusalOf({ ['n'.repeat(100_000)]: 1n }, 'input')

    expect((refusal.details.path as string).length).toBeLessThanOrEqual(512)
  })
})

describe('limits', () => {
  test(`${LIMITS.depth} levels pass and one more is refused`, () => {
    const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

    expect(encodeInput(nested(LIMITS.depth), 'input')).toBe('['.repeat(LIMITS.depth) + ']'.repeat(LIMITS.depth))
    expect(refusalOf(nested(LIMITS.depth + 1), 'input').details).toMatchObject({
      limit: 64,
      path: `$${'[0]'.repeat(64)}`,
    })
    expect(refusalOf(nested(5_000), 'input').details.problem).toContain('nested deeper')
  })

  test.each([
    ['a text', (bytes: number) => 'x'.repeat(bytes - 2)],
    ['a text of two-byte characters', (bytes: number) => 'é'.repeat((bytes - 2) / 2)],
    ['escapes', (bytes: number) => `${'\u0001'.repeat(1_000)}${'x'.repeat(bytes - 6_002)}`],
    // Stored as ["x…", 1, 1]: a blank after each comma.
    ['an array', (bytes: number) => ['x'.repeat(bytes - 10), 1, 1]],
    // Stored as {"a": "x…", "b": 1}: a blank after each colon too.
    ['an object', (bytes: number) => ({ a: 'x'.repeat(bytes - 17), b: 1 })],
    ['large numbers', (bytes: number) => [1e308, -1.5e21, 'x'.repeat(bytes - 309 - 23 - 8)]],
    ['small numbers', (bytes: number) => [5e-324, -1.25e-7, 'x'.repeat(bytes - 326 - 12 - 8)]],
  ])('%s may have exactly the limit of bytes as PostgreSQL prints it', (_title, ofSize) => {
    expect(encodeInput(ofSize(LIMITS.inputBytes), 'input')).not.toBe('')

    const refusal = refusalOf(ofSize(LIMITS.inputBytes + 2), 'input')
    expect(refusal.details).toMatchObject({ path: '$', limit: LIMITS.inputBytes })
    expect(refusal.details.received).toBeGreaterThan(LIMITS.inputBytes)
  })

  test('parts shared by many parents end at the limit instead of multiplying', () => {
    let value: unknown = 'x'
    for (let level = 0; level < 60; level++) value = [value, value]

    expect(refusalOf(value, 'input').details.limit).toBe(LIMITS.inputBytes)
  })
})

describe('any value', () => {
  test('of JSON that is accepted parses back equal', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const hasNul = JSON.stringify(value).includes('\\u0000')
        if (hasNul) expect(refusalOf(value, 'input').code).toBe('INVALID_INPUT')
        else expect(JSON.parse(encodeInput(value, 'input'))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: 500 },
    )
  })

  test('gives text that JSON.parse accepts, or a coded refusal, and nothing else', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    } as fc.ObjectConstraints)
    fc.assert(
      fc.property(anything, fc.constantFrom('input' as const, 'output' as const), (value, what) => {
        try {
          JSON.parse(encodeInput(value, what))
        } catch (error) {
          expect(isHoldfastError(error, what === 'input' ? 'INVALID_INPUT' : 'INVALID_OUTPUT')).toBe(true)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test.each(hostileValues())('$title, inside a list, gives text or a coded refusal', ({ value }) => {
    try {
      JSON.parse(encodeInput([value], 'input'))
    } catch (error) {
      expect(isHoldfastError(error, 'INVALID_INPUT')).toBe(true)
    }
  })
})

function refusalOf(value: unknown, what: 'input' | 'output'): HoldfastError {
  try {
    encodeInput(value, what)
  } catch (error) {
    return error as HoldfastError
  }
  throw new Error('nothing was refused')
}
