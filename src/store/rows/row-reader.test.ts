import { describe, expect, test } from 'vitest'
import { isHoldfastError } from '../../domain/error/errors.js'
import { RowReader } from './row-reader.js'

const reader = (value: unknown) => new RowReader({ c: value }, 'list_queues_v1($1, $2)')
const at = new Date('2026-11-15T22:30:00Z')

test.each([
  ['text', (row: RowReader) => row.text('c'), 'mail', 'mail'],
  ['one of some texts', (row: RowReader) => row.oneOf('c', ['open', 'cancelled']), 'open', 'open'],
  ['boolean', (row: RowReader) => row.boolean('c'), false, false],
  ['number', (row: RowReader) => row.number('c'), 0.5, 0.5],
  ['bigint as text', (row: RowReader) => row.number('c'), '17', 17],
  ['bigint', (row: RowReader) => row.number('c'), 17n, 17],
  ['id as text', (row: RowReader) => row.id('c'), '9223372036854775807', '9223372036854775807'],
  ['id as number', (row: RowReader) => row.id('c'), 17, '17'],
  ['Date', (row: RowReader) => row.moment('c'), at, at],
  ['moment as text', (row: RowReader) => row.moment('c'), at.toISOString(), at],
  ['texts', (row: RowReader) => row.texts('c'), ['a', 'b'], ['a', 'b']],
  ['ids', (row: RowReader) => row.ids('c'), ['1', 2, 3n], ['1', '2', '3']],
  ['numbers', (row: RowReader) => row.numbers('c'), ['1', 2], [1, 2]],
  ['JSON', (row: RowReader) => row.json('c'), [1, { a: null }], [1, { a: null }]],
  ['no JSON', (row: RowReader) => row.json('c'), undefined, null],
  ['object', (row: RowReader) => row.object('c'), { a: 1 }, { a: 1 }],
  ['member of an object', (row: RowReader) => row.nested('c').number('a'), { a: 1 }, 1],
])('a column is read: %s', (_, read, value, expected) => {
  expect(read(reader(value))).toEqual(expected)
})

describe('a column of another type is refused with the function and its name', () => {
  test.each([
    ['text', (row: RowReader) => row.text('c'), [1, null, undefined, {}]],
    ['one of some texts', (row: RowReader) => row.oneOf('c', ['open']), ['shut', 1, null]],
    ['boolean', (row: RowReader) => row.boolean('c'), ['true', 1, null]],
    ['number', (row: RowReader) => row.number('c'), ['x', '', true, null]],
    ['id', (row: RowReader) => row.id('c'), ['x', '', 1.5, 2 ** 60, null]],
    ['moment', (row: RowReader) => row.moment('c'), ['x', 1, new Date(Number.NaN), null]],
    ['texts', (row: RowReader) => row.texts('c'), ['a', [1], [null], null]],
    ['ids', (row: RowReader) => row.ids('c'), ['1', ['x'], null]],
    ['numbers', (row: RowReader) => row.numbers('c'), [1, ['x'], null]],
    ['object', (row: RowReader) => row.object('c'), ['{}', [], null]],
  ])('%s', (_, read, values) => {
    for (const value of values) {
      const refused = expect(() => read(reader(value)))
      refused.toThrow(/^list_queues_v1 returned .* as "c" instead of /)
    }
  })

  test('also inside an object', () => {
    try {
      reader({ a: 'x' }).nested('c').number('a')
      expect.unreachable()
    } catch (error) {
      expect(isHoldfastError(error, 'UNEXPECTED')).toBe(true)
      expect((error as Error).message).toContain('c of list_queues_v1 returned string as "a" instead of a number')
    }
  })
})

test('a column that may be null is null or of its type', () => {
  const nothing = reader(null)
  expect([nothing.textOrNull('c'), nothing.numberOrNull('c'), nothing.idOrNull('c')]).toEqual([null, null, null])
  expect([nothing.momentOrNull('c'), nothing.oneOfOrNull('c', ['a']), nothing.nestedOrNull('c')]).toEqual([
    null,
    null,
    null,
  ])
  const wrong = reader(true)
  const names = ['textOrNull', 'numberOrNull', 'idOrNull', 'momentOrNull', 'nestedOrNull'] as const
  for (const name of names) expect(() => wrong[name]('c'), name).toThrow('returned boolean as "c"')
})

test('a list of any values may have nulls in it', () => {
  expect(reader([null, 1]).list('c')).toEqual([null, 1])
  expect(() => reader([null]).texts('c')).toThrow('returned')
})
