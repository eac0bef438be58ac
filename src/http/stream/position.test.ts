import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parsePositions, printPositions } from './position.js'

describe('positions', () => {
  test('come back as they were sent, whatever the topics are called', () => {
    const position = fc.record({
      version: fc.stringMatching(/^[\w-]{0,12}$/),
      log: fc.nat().map(String),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), position)), (entries) => {
        const positions = new Map(entries)
        const text = printPositions(positions)

        expect(text).toMatch(/^[\w.*+%=&-]*$/)
        expect(parsePositions(text)).toEqual(positions)
      }),
    )
  })

  test('what is none of ours counts as unread', () => {
    for (const text of ['', '12', 'job:1=', 'job:1=x', 'job:1=.', 'job:1=v.-1', 'job:1=v.1e9', 'job:1=v.1\n2', '%']) {
      expect(parsePositions(text).size).toBe(0)
    }
    expect(parsePositions(`${'a'.repeat(40_000)}=v.1`).size).toBe(0)
  })
})
