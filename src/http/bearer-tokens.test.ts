import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bearerTokens } from './bearer-tokens.js'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const asking = (authorization?: string) =>
  new Request('http://localhost/', authorization === undefined ? {} : { headers: { authorization } })

describe('bearerTokens', () => {
  const auth = bearerTokens([
    { name: 'reader', permissions: ['view'], sha256: sha256('reader-token') },
    { name: 'ci', permissions: ['enqueue'], queues: ['builds'], sha256: sha256('ci-token') },
  ])

  test('answers the principal of a known token, without its hash', () => {
    expect(auth(asking('Bearer ci-token'))).toEqual({ name: 'ci', permissions: ['enqueue'], queues: ['builds'] })
    expect(auth(asking('bearer reader-token'))?.name).toBe('reader')
  })

  test.each([undefined, '', 'Bearer', 'Bearer ', 'Bearer other', 'Basic cmVhZGVyOng=', 'Bearer ci-token x'])(
    'answers nobody for %j',
    (authorization) => {
      expect(auth(asking(authorization))).toBeUndefined()
    },
  )

  test('does not look for a token in the address', () => {
    expect(auth(new Request('http://localhost/?token=ci-token&access_token=ci-token'))).toBeUndefined()
  })

  test('refuses what is no hash, and an empty token has no hash that fits', () => {
    expect(() => bearerTokens([{ name: 'a', permissions: [], sha256: 'ci-token' }])).toThrow(/sha256 must be/)
    const empty = bearerTokens([{ name: 'a', permissions: [], sha256: sha256('') }])
    expect(empty(asking('Bearer '))).toBeUndefined()
  })
})
