import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostileValues } from '../run/hostile-values.test-support.js'
import { codeOfSqlstate, ERRORS, type ErrorCode, HoldfastError, isHoldfastError } from './errors.js'

const entries = Object.entries(ERRORS) as [
  ErrorCode,
  { http: number; exit: number; sqlstate: string | null; text: string },
][]

describe('the table of errors', () => {
  test.each(entries)('%s has a status, an exit code and a text', (_code, { http, exit, text }) => {
    expect(http).toBeGreaterThanOrEqual(400)
    expect(http).toBeLessThanOrEqual(599)
    expect([1, 2, 3, 4]).toContain(exit)
    expect(text).toMatch(/^[a-z].*[^.!]$/)
  })

  test('no two codes share a SQLSTATE, and each leads back to its code', () => {
    const raised = entries.filter(([, { sqlstate }]) => sqlstate !== null)

    expect(raised.length).toBeGreaterThan(0)
    expect(new Set(raised.map(([, { sqlstate }]) => sqlstate)).size).toBe(raised.length)
    for (const [, { sqlstate }] of raised) expect(sqlstate).toMatch(/^JH\d{3}$/)
    for (const [code, { sqlstate }] of raised) expect(codeOfSqlstate(sqlstate as string)).toBe(code)
  })

  test('a SQLSTATE of PostgreSQL has no code', () => {
    expect(codeOfSqlstate('23505')).toBeUndefined()
    expect(codeOfSqlstate('')).toBeUndefined()
  })
})

describe('HoldfastError', () => {
  test('takes its message from the table unless one is given', () => {
    expect(new HoldfastError('JOB_NOT_FOUND').message).toBe(ERRORS.JOB_NOT_FOUND.text)
    expect(new HoldfastError('JOB_NOT_FOUND', 'job 7 is not there').message).toBe('job 7 is not there')
  })

  test('carries code, cause and frozen details', () => {
    const details = { id: '7' }
    const error = new HoldfastError('WRONG_STATE', undefined, { cause: 'x', details })
    details.id = '8'

    expect(error).toMatchObject({ name: 'HoldfastError', code: 'WRONG_STATE', cause: 'x', details: { id: '7' } })
    expect(Object.isFrozen(error.details)).toBe(true)
    expect(error.stack).toMatch(/^HoldfastError: /)
  })

  test('has no cause unless one is given, even an undefined one', () => {
    expect('cause' in new HoldfastError('SHUTDOWN')).toBe(false)
    expect('cause' in new HoldfastError('SHUTDOWN', undefined, { cause: undefined })).toBe(true)
  })
})

describe('isHoldfastError', () => {
  test('knows an error of a second copy of the package by its shape', () => {
    const foreign = Object.assign(new Error('x'), { name: 'HoldfastError', code: 'LEASE_LOST' })

    expect(isHoldfastError(foreign)).toBe(true)
    expect(isHoldfastError(foreign, 'LEASE_LOST')).toBe(true)
    expect(isHoldfastError(foreign, 'WRONG_STATE')).toBe(false)
  })

  test('does not take other errors for its own', () => {
    expect(isHoldfastError(Object.assign(new Error('x'), { code: 'CANCELLED' }))).toBe(false)
    expect(isHoldfastError(Object.assign(new Error('x'), { name: 'HoldfastError', code: 'toString' }))).toBe(false)
  })

  test.each(hostileValues())('answers false for $title', ({ value }) => {
    expect(isHoldfastError(value)).toBe(false)
  })

  test('answers false for anything else without throwing', () => {
    fc.assert(fc.property(fc.anything(), (value) => !isHoldfastError(value)))
  })
})
