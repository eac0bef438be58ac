import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isHoldfastError } from '../error/errors.js'
import { formatFilter, parseFilter } from './filter-language.js'
import { JOB_STATES } from './job.js'
import type { JobFilter } from './job-filter.js'

describe('parseFilter', () => {
  test.each<[string, JobFilter]>([
    ['', {}],
    ['  \t\n ', {}],
    ['state:failed', { states: ['failed'] }],
    ['state:failed,cancelled state:pending', { states: ['failed', 'cancelled', 'pending'] }],
    ['type:csv_ingest queue:bulk', { types: ['csv_ingest'], queues: ['bulk'] }],
    ['id:7,8', { ids: ['7', '8'] }],
    ['tag:a tag:"b c,d"', { tags: ['a', 'b c,d'] }],
    ['since:24h until:90m', { since: '24h', until: '90m' }],
    ['since:2026-01-31', { since: new Date('2026-01-31T00:00:00Z') }],
    ['until:2026-01-31T12:30+02:00', { until: new Date('2026-01-31T10:30:00Z') }],
    ['key:{"module":1,"year":2026}', { key: '{"module":1,"year":2026}' }],
    ['key:"{\\"a\\": 1}"', { key: '{"a": 1}' }],
    ['error:"no such file"', { error: 'no such file' }],
    ['error:ECONNRESET:x', { error: 'ECONNRESET:x' }],
    ['worker:pod-1/ab', { worker: 'pod-1/ab' }],
    ['input.year=2026', { input: [{ path: ['year'], value: '2026' }] }],
    [
      'input.a.0.b=x input."c.d"="e f"',
      {
        input: [
          { path: ['a', '0', 'b'], value: 'x' },
          { path: ['c.d'], value: 'e f' },
        ],
      },
    ],
    ['input.note= state:failed', { states: ['failed'], input: [{ path: ['note'], value: '' }] }],
    ['input.url=https://a.example/?q=1', { input: [{ path: ['url'], value: 'https://a.example/?q=1' }] }],
  ])('%j is understood', (text, filter) => {
    expect(parseFilter(text)).toEqual(filter)
  })

  test.each<[string, number, RegExp]>([
    ['failed', 0, /expected one of state, type/],
    ['state:failed colour:red', 13, /there is no "colour"/],
    ['state:', 6, /expected a value/],
    ['state:lost', 0, /state must be pending, waiting/],
    ['state:failed,', 13, /expected a value/],
    ['id:x', 0, /job id must be/],
    ['id:0', 0, /job id must be/],
    ['key:a key:b', 6, /key is there already/],
    ['since:yesterday', 6, /expected a span like 24h/],
    ['since:2026-02-31T99:00Z', 6, /expected a span like 24h/],
    ['since:99999d', 0, /at most 10 years/],
    ['pipeline:1', 0, /pipelineId must be a UUID/],
    ['error:"open', 6, /a quote is not closed/],
    ['error:"open\\', 6, /a quote is not closed/],
    ['error:"a"b', 9, /expected white space/],
    ['input.=1', 6, /expected a value/],
    ['input.a', 7, /expected = and a value/],
    ['input.a..b=1', 8, /expected a value/],
    ['type:"a\u0000"', 0, /job type must be/],
    ['__proto__:x', 0, /expected one of/],
    ['constructor:x', 0, /there is no "constructor"/],
    [`type:${'x'.repeat(101)}`, 0, /job type must be/],
    [`id:${Array.from({ length: 51 }, (_, i) => i + 1).join(',')}`, 0, /1 to 50 values/],
  ])('%j is refused at its place', (text, position, message) => {
    const refusal = refusalOf(() => parseFilter(text))

    expect(refusal).toMatchObject({ code: 'INVALID_OPTION', details: { option: 'filter', position } })
    expect(refusal.message).toMatch(message)
    expect(refusal.message).toContain(`at character ${position + 1}`)
  })

  test('a text without end is refused before it is read', () => {
    const refusal = refusalOf(() => parseFilter('state:failed '.repeat(400)))

    expect(refusal).toMatchObject({ code: 'INVALID_OPTION', details: { position: 4000 } })
  })

  test('any text is understood, or refused with a place inside it', () => {
    const pieces = fc.constantFrom(
      'state:',
      'failed',
      'input.',
      '=',
      '"',
      '\\',
      ',',
      ' ',
      ':',
      'since:',
      '24h',
      'tag:',
      '\u0000',
    )
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        try {
          parseFilter(text)
        } catch (error) {
          const { details } = refusalOf(() => {
            throw error
          })
          expect(details.position).toBeGreaterThanOrEqual(0)
          expect(details.position).toBeLessThanOrEqual(text.length)
        }
      }),
    )
  })
})

describe('formatFilter', () => {
  const texts = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((text) => !/\p{Cc}|\p{Surrogate}/u.test(text))
  const some = <T>(value: fc.Arbitrary<T>) => fc.uniqueArray(value, { minLength: 1, maxLength: 4 })
  const moments = fc.oneof(
    fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    fc.nat({ max: 1000 }).map((n) => `${n}h` as const),
  )
  const filters: fc.Arbitrary<JobFilter> = fc.record(
    {
      states: some(fc.constantFrom(...JOB_STATES)),
      types: some(texts),
      queues: some(texts),
      ids: some(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String)),
      key: texts,
      pipelineId: fc.uuid(),
      tags: some(texts),
      worker: texts,
      error: texts,
      since: moments,
      until: moments,
      input: fc.array(
        fc.record({
          path: fc.array(texts, { minLength: 1, maxLength: 4 }),
          value: fc.string({ unit: 'grapheme-ascii' }),
        }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    },
    { requiredKeys: [] },
  )

  test('what it writes parses into the same filter', () => {
    fc.assert(
      fc.property(filters, (filter) => {
        expect(parseFilter(formatFilter(filter))).toEqual(filter)
      }),
    )
  })
})

function refusalOf(act: () => unknown) {
  try {
    act()
  } catch (error) {
    if (isHoldfastError(error)) return error
    throw error
  }
  throw new Error('it was not refused')
}
