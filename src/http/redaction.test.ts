import { describe, expect, test } from 'vitest'
import { defineJob } from '../domain/job/definition.js'
import { Redaction } from './redaction.js'

describe('Redaction', () => {
  const redaction = new Redaction({ '*': ['password'], pay: ['card.number', 'to.*.email'] })

  test('replaces a value, and all that lies below it, at its path', () => {
    expect(redaction.apply('pay', { card: { number: { raw: 4111 }, name: 'A' }, password: 'x', left: 1 })).toEqual({
      card: { number: '[redacted]', name: 'A' },
      password: '[redacted]',
      left: 1,
    })
  })

  test('reaches every element of a list by *', () => {
    expect(redaction.apply('pay', { to: [{ email: 'a', id: 1 }, { email: 'b' }] })).toEqual({
      to: [{ email: '[redacted]', id: 1 }, { email: '[redacted]' }],
    })
  })

  test('leaves other types and other shapes alone', () => {
    expect(redaction.apply('other', { card: { number: 1 } })).toEqual({ card: { number: 1 } })
    for (const value of [null, 7, 'text', [], [null], { card: null }, { card: 'x' }]) {
      expect(redaction.apply('pay', value)).toEqual(value)
    }
  })

  test('adds up what several lists say, whatever the types are called', () => {
    const both = new Redaction({ constructor: ['a'], pay: ['a'] }, { pay: ['b'], toString: ['c'] })

    expect(both.apply('pay', { a: 1, b: 2, c: 3 })).toEqual({ a: '[redacted]', b: '[redacted]', c: 3 })
    expect(both.apply('constructor', { a: 1, b: 2 })).toEqual({ a: '[redacted]', b: 2 })
    expect(both.apply('valueOf', { a: 1 })).toEqual({ a: 1 })
  })

  test('does not change what it is given, and keeps a property named __proto__ as data', () => {
    const given = JSON.parse('{"__proto__": {"password": 1}, "password": "x"}')

    expect(JSON.stringify(redaction.apply('pay', given))).toBe('{"__proto__":{"password":1},"password":"[redacted]"}')
    expect(given.password).toBe('x')
  })

  test('knows which filters would tell something of a redacted value', () => {
    expect(redaction.touches('pay', ['card', 'number'])).toBe(true)
    expect(redaction.touches('pay', ['card'])).toBe(true)
    expect(redaction.touches('pay', ['card', 'number', 'raw'])).toBe(true)
    expect(redaction.touches('pay', ['to', '3', 'email'])).toBe(true)
    expect(redaction.touches('pay', ['card', 'name'])).toBe(false)
    expect(redaction.touches('other', ['card', 'number'])).toBe(false)
    expect(redaction.touches(undefined, ['card', 'number'])).toBe(true)
  })

  test.each(['', 'a..b', '.a', 7])('refuses %j as a path, in a mount and in a definition', (path) => {
    expect(() => new Redaction({ pay: [path as string] })).toThrow(/redact of pay must be/)
    expect(() => defineJob({ type: 'pay', redact: [path as string] })).toThrow(/redact of pay must be/)
  })

  test('refuses a text instead of a list: its letters are no paths', () => {
    expect(() => defineJob({ type: 'pay', redact: 'card' as never })).toThrow(/redact of pay must be/)
    expect(() => new Redaction({ pay: 'card' as never })).toThrow(/redact of pay must be/)
  })
})
