// input_problem: what can be stored can be claimed and read back.
import { describe, expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const problem = (json: string | null) => askValue<string | null>(db.admin, 'select holdfast.input_problem($1)', [json])
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const nestedObjects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const many = (count: number, number: string) => `[${Array(count).fill(number).join(',')}]`

describe('what is fine', () => {
  test.each([
    ['null', 'null'],
    ['an empty text', '""'],
    ['a text of 400 digits', JSON.stringify('9'.repeat(400))],
    ['a key of 400 digits', JSON.stringify({ ['9'.repeat(400)]: 1 })],
    ['64 arrays inside one another', nested(64)],
    ['64 objects inside one another', nestedObjects(64)],
    ['the largest double', '[1.7976931348623157e308, -1.7976931348623157e308]'],
    ['the smallest double', '[5e-324, -5e-324, 0]'],
    ['300 of the largest double', many(300, '1.7976931348623157e308')],
    ['text of exactly 262,144 bytes', JSON.stringify('x'.repeat(262_142))],
    ['80,000 small numbers', many(80_000, '1')],
  ])('%s', async (_what, json) => {
    expect(await problem(json)).toBeNull()
  })
})

describe('what is not', () => {
  test.each([
    ['SQL NULL', null, /SQL NULL/],
    ['65 arrays inside one another', nested(65), /deeper than 64/],
    ['65 objects inside one another', nestedObjects(65), /deeper than 64/],
    ['2,000 arrays inside one another', nested(2000), /deeper than 64/],
    ['text of 262,145 bytes', JSON.stringify('x'.repeat(262_143)), /takes 262145 bytes/],
    ['text whose bytes, not characters, are too many', JSON.stringify('é'.repeat(131_072)), /takes 262146 bytes/],
    ['1,000 times 1e308, which 7 KB of JSON ask for', many(1000, '1e308'), /takes 311000 bytes/],
    ['a number of 310 digits', '1e309', /beyond the range of a double/],
    ['a negative number of 310 digits', '{"a": [-1e309]}', /beyond the range of a double/],
    ['a number that only a numeric can hold', '1e131071', /beyond the range of a double/],
    ['a fraction that only a numeric can hold', '1e-400', /beyond the range of a double/],
    ['9,000 times 1e131071, a gigabyte of digits', many(9000, '1e131071'), /beyond the range of a double/],
    ['60,000 times 1e-16383, a gigabyte of digits', many(60_000, '1e-16383'), /beyond the range of a double/],
    ['a million numbers', many(1_000_000, '1'), /more than 262144 bytes/],
  ])('%s', async (_what, json, sentence) => {
    expect(await problem(json)).toMatch(sentence)
  })
})

test('an enqueue of a gigabyte of digits is refused by its code, and the session and its neighbours live on', async () => {
  const client = await db.connect()
  const hostile = many(9000, '1e131071')

  await expect(ask(client, `select holdfast.enqueue('task', $1)`, [hostile])).rejects.toMatchObject({ code: 'JH004' })

  await ask(client, `select holdfast.enqueue('task', '1e308')`)
  expect(await ask(client, `select input from holdfast.claim_jobs('w', '{default}', '{task}', 10)`)).toEqual([
    { input: 1e308 },
  ])
})
