import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sanitizeText, textProblem, utf8Bytes } from './text.js'

const bytesOf = (text: string) => new TextEncoder().encode(text).length
/** Every UTF-16 unit, halves of pairs and NUL included, beside ordinary text. */
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('\u0000', '\ud83d', '\ude00\ud83d', '😀', 'é…\uffff'),
)

describe('utf8Bytes', () => {
  test('agrees with the encoder of the platform for every text', () => {
    fc.assert(fc.property(texts, (text) => utf8Bytes(text) === bytesOf(text)))
  })
})

describe('textProblem', () => {
  test.each(['\u0000', 'a\u0000b'])('names the NUL in %j', (text) => {
    expect(textProblem(text)).toContain('\\u0000')
  })

  test.each(['\ud83d', '\ude00', '\ude00\ud83d', 'a\ud83db'])('names the half pair in %j', (text) => {
    expect(textProblem(text)).toContain('surrogate')
  })

  test.each(['', 'a', '😀', '\u0001\n\uffff'])('finds nothing in %j', (text) => {
    expect(textProblem(text)).toBeUndefined()
  })
})

describe('sanitizeText', () => {
  test('leaves fitting text alone', () => {
    expect(sanitizeText('größer 😀', 100)).toBe('größer 😀')
    expect(sanitizeText('abc', 3)).toBe('abc')
  })

  test('replaces NUL and half pairs', () => {
    expect(sanitizeText('a\u0000b\ud83dc\ude00', 100)).toBe('a\ufffdb\ufffdc\ufffd')
  })

  test('cuts with a mark that says how long the text was', () => {
    expect(sanitizeText('x'.repeat(1_000), 40)).toBe('xxxxxxxxxxxx … [truncated, 1000 bytes]')
  })

  test('cuts between code points', () => {
    expect(sanitizeText('😀'.repeat(100), 35)).toBe('😀😀 … [truncated, 400 bytes]')
  })

  test('cuts without a mark when the limit is shorter than the mark', () => {
    expect(sanitizeText('😀😀😀', 7)).toBe('😀')
    expect(sanitizeText('abc', 0)).toBe('')
  })

  test('always gives storable text within the limit, and gives it again unchanged', () => {
    fc.assert(
      fc.property(texts, fc.nat({ max: 60 }), (text, maxBytes) => {
        const clean = sanitizeText(text, maxBytes)

        expect(textProblem(clean)).toBeUndefined()
        expect(bytesOf(clean)).toBeLessThanOrEqual(maxBytes)
        expect(sanitizeText(clean, maxBytes)).toBe(clean)
        if (bytesOf(text) <= maxBytes && textProblem(text) === undefined) expect(clean).toBe(text)
      }),
      { numRuns: 500 },
    )
  })
})
