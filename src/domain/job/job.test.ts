import { describe, expect, test } from 'vitest'
import {
  checkMaxAttempts,
  checkPriority,
  checkQueueName,
  checkTags,
  checkTypeName,
  FINAL_STATES,
  JOB_STATES,
  toJobId,
} from './job.js'

const refusal = (option: string) =>
  expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) })

describe('toJobId', () => {
  test.each([
    [1, '1'],
    ['42', '42'],
    [9_223_372_036_854_775_807n, '9223372036854775807'],
    ['9223372036854775807', '9223372036854775807'],
  ])('%s is %s', (value, id) => {
    expect(toJobId(value)).toBe(id)
  })

  test.each([
    0,
    -1,
    1.5,
    Number.NaN,
    2 ** 53,
    '0',
    '007',
    '1e3',
    ' 1',
    '1\n',
    '',
    'abc',
    0n,
    9_223_372_036_854_775_808n,
  ])('%s is refused', (value) => {
    expect(() => toJobId(value)).toThrow(refusal('job id'))
  })

  test.each([null, undefined, {}, [7], true])('a value of another type is refused (%s)', (value) => {
    expect(() => toJobId(value as never)).toThrow(refusal('job id'))
  })
})

describe('checkPriority', () => {
  test.each([0, 5, 9])('%d passes', (priority) => {
    expect(checkPriority(priority)).toBe(priority)
  })

  test.each([-1, 10, 2.5, Number.NaN, '5', null])('%j is refused', (priority) => {
    expect(() => checkPriority(priority as number)).toThrow(refusal('priority'))
  })
})

describe('checkMaxAttempts', () => {
  test.each([1, 3, 1_000])('%d passes', (maxAttempts) => {
    expect(checkMaxAttempts(maxAttempts)).toBe(maxAttempts)
  })

  test.each([0, 1_001, 1.5, '3', undefined])('%j is refused', (maxAttempts) => {
    expect(() => checkMaxAttempts(maxAttempts as number)).toThrow(refusal('maxAttempts'))
  })
})

describe.each([
  ['queue name', checkQueueName],
  ['job type', checkTypeName],
])('%s', (option, check) => {
  test.each(['a', 'csv_ingest', 'Größe 😀', 'x'.repeat(100), 'é'.repeat(50)])('%j passes', (name) => {
    expect(check(name)).toBe(name)
  })

  test.each(['', 'x'.repeat(101), 'é'.repeat(51), 'a\nb', 'a\u007f', 'a\u0085', '\u0000', '\ud83d', 7, null])(
    '%j is refused',
    (name) => {
      expect(() => check(name as string)).toThrow(refusal(option))
    },
  )

  test('the refusal shows the beginning of a long name and not all of it', () => {
    const text = messageOf(() => check(`begin${'x'.repeat(100_000)}`))

    expect(text).toContain('"beginxxx')
    expect(text.length).toBeLessThan(400)
  })
})

describe('checkTags', () => {
  test.each([[[]], [['a', 'b']], [Array(20).fill('t')], [['😀'.repeat(100)]]])('%j passes', (tags) => {
    expect(checkTags(tags)).toEqual(tags)
  })

  test('more than twenty are refused', () => {
    expect(() => checkTags(Array(21).fill('t'))).toThrow('tags must be at most 20 tags; received 21')
  })

  test.each(['', 'x'.repeat(101), 'a\tb', '\u0000', '\ude00', 5, undefined])('a tag %j is refused', (tag) => {
    expect(() => checkTags(['fine', tag as string])).toThrow(refusal('tag'))
  })

  test('a hole in the list is refused', () => {
    expect(() => checkTags(new Array(1))).toThrow(refusal('tag'))
  })

  test('what is no list is refused', () => {
    expect(() => checkTags('a' as never)).toThrow(refusal('tags'))
  })
})

test('final states are states', () => {
  expect(JOB_STATES).toEqual(expect.arrayContaining([...FINAL_STATES]))
})

function messageOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was refused')
}
