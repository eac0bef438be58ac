import { expect, test } from 'vitest'
import { AnswerTimeout, driverError, isConnectionFault } from './connection-faults.js'

test('a plain error that the driver rejects with is a fault of the connection, with the cause', () => {
  const reported = new Error('Connection terminated unexpectedly')

  const error = driverError(reported)

  expect(isConnectionFault(error)).toBe(true)
  expect(error).toMatchObject({ message: reported.message, cause: reported })
})

test('an error with a code, or of a class, stays as the driver reported it', () => {
  const refused = Object.assign(new Error('division by zero'), { code: '22012' })
  for (const error of [refused, new TypeError('cannot serialize'), 'text', null]) expect(driverError(error)).toBe(error)
})

test.each([
  ['an answer that did not come in time', new AnswerTimeout(10), true],
  ['a reset', Object.assign(new Error('x'), { code: 'ECONNRESET' }), true],
  ['a connection exception', Object.assign(new Error('x'), { code: '08006' }), true],
  ['a refused statement', Object.assign(new Error('timeout'), { code: '22012' }), false],
  ['a text about a timeout', new Error('Connection timeout'), false],
  ['nothing', null, false],
])('%s: %#', (_, error, isFault) => {
  expect(isConnectionFault(error)).toBe(isFault)
})
