// refuse: SQL and TypeScript name each refusal by the same code.
import { describe, expect, test } from 'vitest'
import { codeOfSqlstate, ERRORS } from '../../../src/domain/error/errors.js'
import { ask, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const raised = Object.entries(ERRORS).flatMap(([code, { sqlstate }]) => (sqlstate === null ? [] : [{ code, sqlstate }]))

describe.each(raised)('$code', ({ code, sqlstate }) => {
  test(`is raised as ${sqlstate}, with the code in message and detail`, async () => {
    const refusal = ask(db.admin, `select holdfast.refuse($1, 'why', '{"received": [1]}')`, [code])

    const error = await refusal.catch((caught) => caught)
    expect(error).toMatchObject({ code: sqlstate, message: `${code}: why`, severity: 'ERROR' })
    expect(JSON.parse(error.detail)).toEqual({ code, received: [1] })
    expect(codeOfSqlstate(error.code)).toBe(code)
  })
})

test('SQL raises no code that TypeScript does not know, and none beside these', async () => {
  const text = await askValue<string>(
    db.admin,
    `select string_agg(p.prosrc, ' ') from pg_proc as p where p.pronamespace = 'holdfast'::regnamespace`,
  )

  const used = new Set([...text.matchAll(/holdfast\.refuse\(\s*'(\w+)'/g)].map(([, code]) => code))
  const sqlstates = new Set([...text.matchAll(/'(JH\d{3})'/g)].map(([, sqlstate]) => sqlstate))
  expect([...used].filter((code) => !raised.some((known) => known.code === code))).toEqual([])
  expect([...sqlstates].sort()).toEqual(raised.map(({ sqlstate }) => sqlstate).sort())
})

test('an unknown code is a fault of its own, not a refusal', async () => {
  await expect(ask(db.admin, `select holdfast.refuse('NO_SUCH_CODE', 'x')`)).rejects.not.toMatchObject({
    code: expect.stringMatching(/^JH/),
  })
})
