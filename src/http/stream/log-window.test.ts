import { describe, expect, test } from 'vitest'
import { LogWindow } from './log-window.js'

const line = (id: number, characters = 2) => ({ id: String(id), text: 'x'.repeat(characters) })
const ids = (lines: readonly { id: string }[] | undefined) => lines?.map(({ id }) => id)

describe('LogWindow', () => {
  test('gives the lines after a position, and nothing to who has them all', () => {
    const window = new LogWindow('5')
    window.add([line(7), line(9), line(10)])

    expect(ids(window.after('5'))).toEqual(['7', '9', '10'])
    expect(ids(window.after('8'))).toEqual(['9', '10'])
    expect(ids(window.after('10'))).toEqual([])
    expect(window.to).toBe('10')
  })

  test('does not know what came before it', () => {
    expect(new LogWindow('5').after('4')).toBeUndefined()
  })

  test('forgets the oldest lines when it holds too much, and says so', () => {
    const window = new LogWindow('0')
    window.add([line(1, 200_000), line(2, 200_000)])

    expect(window.after('0')).toBeUndefined()
    expect(ids(window.after('1'))).toEqual(['2'])
  })

  test('compares ids as numbers', () => {
    const window = new LogWindow('9')
    window.add([line(10), line(11)])

    expect(ids(window.after('9'))).toEqual(['10', '11'])
    expect(window.after('1')).toBeUndefined()
  })
})
