import { describe, expect, test } from 'vitest'
import { checkSameSite } from './same-site.js'

function verdict(method: string, headers: Record<string, string>, origins: string[] = []): 'passes' | 'CROSS_SITE' {
  try {
    checkSameSite(new Request('http://jobs.test/api/jobs', { method, headers }), new Set(origins))
    return 'passes'
  } catch (error) {
    return (error as { code: 'CROSS_SITE' }).code
  }
}

describe('checkSameSite', () => {
  test.each([
    ['POST', { 'sec-fetch-site': 'same-origin' }, 'passes'],
    ['POST', { 'sec-fetch-site': 'none' }, 'passes'],
    ['POST', { 'sec-fetch-site': 'cross-site' }, 'CROSS_SITE'],
    ['POST', { 'sec-fetch-site': 'same-site' }, 'CROSS_SITE'],
    ['POST', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 'CROSS_SITE'],
    ['POST', { 'sec-fetch-site': 'cross-site', origin: 'http://jobs.test' }, 'CROSS_SITE'],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 'passes'],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 'CROSS_SITE'],
    ['POST', { origin: 'https://jobs.test' }, 'passes'],
    ['POST', { origin: 'https://evil.test' }, 'CROSS_SITE'],
    ['POST', { origin: 'https://jobs.test.evil.test' }, 'CROSS_SITE'],
    ['POST', { origin: 'null' }, 'CROSS_SITE'],
    ['POST', {}, 'passes'],
  ] as const)('%s with %j: %s', (method, headers, expected) => {
    expect(verdict(method, headers)).toBe(expected)
  })

  test('an origin that was named passes', () => {
    const headers = { 'sec-fetch-site': 'same-site', origin: 'https://ops.test' }

    expect(verdict('POST', headers, ['https://ops.test'])).toBe('passes')
    expect(verdict('POST', headers, ['https://other.test'])).toBe('CROSS_SITE')
  })
})
