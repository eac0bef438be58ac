import { describe, expect, test } from 'vitest'
import { checkSchemaName, DEFAULT_SCHEMA, quoteIdentifier } from './schema-name.js'

describe('checkSchemaName', () => {
  test.each([DEFAULT_SCHEMA, '_jobs', 'tenant_7', 'pgjobs', 'a'.repeat(40)])('%s passes', (name) => {
    expect(checkSchemaName(name)).toBe(name)
  })

  test.each(['', 'Jobs', '7up', 'a-b', 'a b', 'a"b', "a';--", 'a\n', 'é', 'a'.repeat(41), 7, null, ['jobs']])(
    '%j is no plain name',
    (name) => {
      expect(() => checkSchemaName(name as string)).toThrow(/^schema must be at most 40 lower-case letters/)
    },
  )

  test.each(['pg_jobs', 'pg_', 'public', 'information_schema'])('%s is not to be had', (name) => {
    expect(() => checkSchemaName(name)).toThrow(`schema must be a schema of its own; received "${name}"`)
  })
})

describe('quoteIdentifier', () => {
  test('wraps a name in quotes and doubles those inside', () => {
    expect(quoteIdentifier('holdfast')).toBe('"holdfast"')
    expect(quoteIdentifier('a"b')).toBe('"a""b"')
  })
})
