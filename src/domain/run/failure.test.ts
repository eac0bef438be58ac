import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../error/errors.js'
import { encodeInput, LIMITS } from '../value/json.js'
import { describeFailure, type Failure } from './failure.js'
import { hostileValues } from './hostile-values.test-support.js'

describe('an error', () => {
  test('keeps name, message, stack, code and cause', () => {
    const cause = Object.assign(new TypeError('no route'), { code: 'ECONNREFUSED' })
    const failure = describeFailure(new Error('fetch failed', { cause }))

    expect(failure).toMatchObject({
      name: 'Error',
      message: 'fetch failed',
      cause: { name: 'TypeError', message: 'no route', code: 'ECONNREFUSED' },
    })
    expect(failure.stack).toContain('failure.test.ts')
    expect(failure).not.toHaveProperty('thrown')
  })

  test('of another realm is known by its shape, and a number as code becomes text', () => {
    expect(describeFailure({ message: 'aborted', name: 'AbortError', code: 20 })).toEqual({
      name: 'AbortError',
      message: 'aborted',
      code: '20',
    })
  })

  test('with a message of a megabyte keeps its beginning and the frames of its stack', () => {
    const failure = describeFailure(new Error('m'.repeat(1_000_000)))

    expect(failure.message).toMatch(/^m{100}.*\[truncated, 1000000 bytes\]$/)
    expect(failure.stack).toContain('failure.test.ts')
    expectStorable(failure)
  })

  test('with text that PostgreSQL refuses is made storable', () => {
    expect(describeFailure(new Error('a\u0000b\ud83d')).message).toBe('a\ufffdb\ufffd')
  })

  test('whose every character needs an escape still fits', () => {
    const text = '\u0001'.repeat(100_000)
    let error = new Error(text)
    for (let depth = 0; depth < 10; depth++) {
      error = Object.assign(new Error(text, { cause: error }), {
        name: text,
        code: text,
        stack: text,
        issues: [text, text],
      })
    }

    expectStorable(describeFailure(error))
  })

  test('is cut no further than its escapes demand', () => {
    const failure = describeFailure(
      Object.assign(new Error('\u0001'.repeat(100_000)), { stack: '\u0001'.repeat(100_000) }),
    )

    expect(JSON.stringify(failure).length).toBeGreaterThan(LIMITS.errorBytes / 3)
    expectStorable(failure)
  })

  test('with a long chain of causes keeps five of them', () => {
    let error = new Error('0')
    for (let depth = 1; depth <= 50; depth++) error = new Error(String(depth), { cause: error })

    expect(messagesOf(describeFailure(error))).toEqual(['50', '49', '48', '47', '46', '45'])
  })

  test('that is its own cause ends as well', () => {
    const error = new Error('loop')
    error.cause = error

    expect(messagesOf(describeFailure(error))).toHaveLength(6)
  })

  test('of a validator keeps its issues with message and path', () => {
    const issues = [
      { message: 'expected a number', path: ['rows', 3, { key: 'year' }], code: 'invalid_type' },
      { message: 'too long', path: [] },
    ]
    const expected = [{ message: 'expected a number', path: ['rows', 3, 'year'] }, { message: 'too long' }]

    expect(describeFailure(Object.assign(new Error('x'), { issues })).issues).toEqual(expected)
    expect(describeFailure(new HoldfastError('INVALID_INPUT', 'x', { details: { issues } }))).toMatchObject({
      code: 'INVALID_INPUT',
      issues: expected,
    })
  })

  test('that gathers others keeps name and message of each, up to twenty', () => {
    const errors = Array.from({ length: 100 }, (_, i) => new TypeError(`part ${i}`))
    const { issues } = describeFailure(new AggregateError(errors, 'all failed'))

    expect(issues).toHaveLength(20)
    expect(issues?.[0]).toEqual({ name: 'TypeError', message: 'part 0' })
  })
})

describe('what is no error', () => {
  test.each([
    ['boom', 'boom', 'string'],
    [undefined, 'undefined was thrown', 'undefined'],
    [null, 'null was thrown', 'null'],
    [42, '42', 'number'],
    [7n, '7', 'bigint'],
    [Symbol('s'), 'Symbol(s)', 'symbol'],
    [{ status: 503 }, '{"status":503}', 'object'],
    [() => 1, 'a function was thrown', 'function'],
  ])('%s is told as %j', (thrown, message, type) => {
    expect(describeFailure(thrown)).toEqual({ name: 'NonError', message, thrown: type })
  })

  test('a circular object is told by its properties', () => {
    const circular: Record<string, unknown> = { id: 7 }
    circular.self = circular

    expect(describeFailure(circular).message).toBe('an object with the properties id, self')
  })
})

describe('whatever was thrown', () => {
  test.each(hostileValues())('$title gives a storable failure', ({ value }) => {
    expectStorable(describeFailure(value))
  })

  test.each(hostileValues())('an error full of $title gives a storable failure', ({ value }) => {
    const parts = { name: value, stack: value, code: value, cause: value, issues: [value, { path: [value] }] }

    expectStorable(describeFailure({ message: 'x', ...parts }))
    expectStorable(describeFailure({ ...parts, message: value, stack: 'x' }))
  })

  test('anything at all gives a storable failure', () => {
    const parts = fc.record(
      {
        message: fc.anything(),
        stack: fc.string({ unit: 'binary' }),
        cause: fc.anything(),
        issues: fc.anything(),
        errors: fc.array(fc.anything()),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        fc.oneof(fc.anything({ withBigInt: true, withSparseArray: true, withTypedArray: true }), parts),
        (thrown) => expectStorable(describeFailure(thrown)),
      ),
      { numRuns: 500 },
    )
  })
})

function expectStorable(failure: Failure): void {
  const text = encodeInput(failure, 'output')
  expect(typeof failure.name).toBe('string')
  expect(typeof failure.message).toBe('string')
  expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(LIMITS.errorBytes)
  expect(JSON.parse(text)).toEqual(failure)
}

function messagesOf(failure: Failure | undefined): string[] {
  return failure === undefined ? [] : [failure.message, ...messagesOf(failure.cause)]
}
