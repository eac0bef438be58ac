import { expect, test } from 'vitest'
import { HoldfastError } from '../../domain/error/errors.js'
import { driverError } from './connection-faults.js'
import { isPassing, mayBeDone, translated } from './translate-error.js'

const failed = (message: string, fields: object = {}) =>
  translated(driverError(Object.assign(new Error(message), fields)))

test.each([
  ['a reset', failed('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' })],
  ['a broken pipe', failed('write EPIPE', { code: 'EPIPE', syscall: 'write' })],
  ['an unreachable host', failed('read EHOSTUNREACH', { code: 'EHOSTUNREACH', syscall: 'read' })],
  ['an end without a reason', failed('Connection terminated unexpectedly')],
  ['an answer that did not come in time', failed('Query read timeout')],
  ['a server that ends the connection', failed('terminating', { code: '57P01', severity: 'FATAL' })],
  ['a pooler that lost the server', failed('server conn crashed?', { code: '08P01', severity: 'FATAL' })],
])('after %s a call may have been committed', (_, error) => {
  expect(mayBeDone(error)).toBe(true)
})

test.each([
  ['a refusal of Holdfast', failed('INVALID_OPTION: no', { code: 'JH005', severity: 'ERROR' })],
  ['a refusal of PostgreSQL', failed('deadlock', { code: '40P01', severity: 'ERROR' })],
  ['a statement timeout', failed('canceling statement', { code: '57014', severity: 'ERROR' })],
  ['a refused connection', failed('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' })],
  ['an unknown host name', failed('getaddrinfo EAI_AGAIN', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' })],
  ['a server that is full', failed('too many clients', { code: '53300', severity: 'FATAL' })],
  ['a server that starts up', failed('starting up', { code: '57P03', severity: 'FATAL' })],
  ['a wrong password', failed('no', { code: '28P01', severity: 'FATAL' })],
  ['a standby', failed('read-only', { code: '25006', severity: 'ERROR' })],
  ['a schema that does not fit', new HoldfastError('SCHEMA_OUTDATED', 'migrate')],
])('after %s a call has changed nothing', (_, error) => {
  expect(mayBeDone(error)).toBe(false)
})

test('what the driver says of its socket without a code is a connection that failed, and the call may be repeated', () => {
  const error = failed('timeout exceeded when trying to connect')

  expect(error).toMatchObject({ code: 'CONNECTION_FAILED' })
  expect(isPassing(error)).toBe(true)
})

test('the same text in an error from elsewhere stays what it is', () => {
  const error = new Error('timeout exceeded when trying to connect')

  expect(translated(error)).toBe(error)
  expect(isPassing(error)).toBe(false)
})
