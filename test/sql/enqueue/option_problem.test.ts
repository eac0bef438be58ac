// option_problem: each option, good and bad, by one sentence that names it.
import { describe, expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const problem = (options: unknown) =>
  askValue<string | null>(db.admin, 'select holdfast.option_problem($1)', [JSON.stringify(options)])

const KEYED = { key: 'k' }
const good: object[] = [
  {},
  ...['default', 'x'.repeat(100), 'é/ü', `'; drop`].map((queue) => ({ queue })),
  ...[0, 5, 9].map((priority) => ({ priority })),
  ...[
    '2030-01-01T00:00:00Z',
    '2030-01-01 00:00+02',
    '2030-01-01T00:00:00.123456-05:30',
    '2028-02-29T23:59:59Z',
    '1999-12-31T00:00:00+0200',
  ].map((run_at) => ({ run_at })),
  ...[0, 1500, 0.5, 315_360_000_000, '5m', '5 minutes', '1.5h', '90s', '250ms', '2d', '36500 days'].map((delay) => ({
    delay,
  })),
  ...['k', 'x'.repeat(512), 'a\nb'].map((key) => ({ key })),
  ...['exclusive', 'supersede', 'coalesce'].map((key_policy) => ({ ...KEYED, key_policy })),
  ...['replace', 'keep'].map((coalesce) => ({ ...KEYED, key_policy: 'coalesce', coalesce })),
  ...[1, 1000].map((max_attempts) => ({ max_attempts })),
  { pipeline_id: '7D444840-9dc0-11d1-b245-5ffdce74fad2' },
  ...[[], ['a'], Array(20).fill('x'.repeat(100))].map((tags) => ({ tags })),
  ...['d', 'x'.repeat(512)].map((dedupe_id) => ({ dedupe_id })),
]

test.each(good.map((options) => [options]))('%j is fine', async (options) => {
  expect(await problem(options)).toBeNull()
})

const bad: [string, unknown[]][] = [
  ['queue', ['', 'x'.repeat(101), 'a\nb', '\u0007', 5, null, ['a'], {}]],
  ['priority', [-1, 10, 1.5, 'high', '', null, [5], 1e300]],
  ['run_at', ['', 'tomorrow', 'infinity', 'now', '2030-01-01', '2030-01-01T00:00:00', 1893456000000, null]],
  [
    'run_at',
    [
      '2030-13-01T00:00:00Z',
      '2030-00-01T00:00:00Z',
      '2030-02-30T00:00:00Z',
      '2029-02-29T00:00:00Z',
      '2030-01-00T00:00Z',
    ],
  ],
  [
    'run_at',
    [
      '2030-01-01T25:00:00Z',
      '2030-01-01T00:60:00Z',
      '2030-01-01T00:00:00+99:00',
      '0000-01-01T00:00:00Z',
      '+275760-09-13T00:00:00Z',
    ],
  ],
  ['run_at', [`2030-01-01T00:00:00.${'1'.repeat(200)}Z`]],
  ['delay', [-1, '-5m', '5 weeks', '', 'm', '5', '5m 3s', 1e13, '99999999999h', '999999d', null, {}, '1e3s']],
  ['key', ['', 'x'.repeat(513), 'é'.repeat(257), 5, null]],
  ['max_attempts', [0, -1, 1001, 1.5, 'many', null, 99999999999]],
  ['pipeline_id', ['', 'x', '7d444840-9dc0-11d1-b245-5ffdce74fad', 5, null]],
  ['tags', ['a', {}, null, [5], [null], [['a']], [''], ['x'.repeat(101)], ['\n'.repeat(101)], Array(21).fill('a')]],
  ['dedupe_id', ['', 'x'.repeat(513), 5, null]],
]
describe.each(bad)('%s', (name, values) => {
  test.each(values.map((value) => [value]))(`cannot be %j`, async (value) => {
    expect(await problem({ [name]: value })).toMatch(new RegExp(`^option ${name} cannot be `))
  })
})

test.each([
  ['a policy without a key', { key_policy: 'exclusive' }, 'option key_policy cannot be "exclusive"'],
  ['an unknown policy', { ...KEYED, key_policy: 'fifo' }, 'option key_policy cannot be "fifo"'],
  ['coalesce without its policy', { ...KEYED, coalesce: 'keep' }, 'option coalesce cannot be "keep"'],
  [
    'an unknown way to coalesce',
    { ...KEYED, key_policy: 'coalesce', coalesce: 'merge' },
    'option coalesce cannot be "merge"',
  ],
  ['run_at with delay', { run_at: '2030-01-01T00:00:00Z', delay: 5 }, 'give run_at or delay, not both'],
])('%s is refused', async (_what, options, sentence) => {
  expect(await problem(options)).toBe(sentence)
})

test('an unknown option is named together with those that are known', async () => {
  expect(await problem({ prio: 1 })).toMatch(/^unknown option "prio"; known are queue, priority, run_at, delay, key/)
})

test.each([['[]'], ['5'], ['null'], [null]])('%s instead of an object is refused', async (options) => {
  const sentence = await askValue(db.admin, 'select holdfast.option_problem($1)', [options])

  expect(sentence).toMatch(/^options must be a JSON object, received /)
})

test('what is received is shown shortened', async () => {
  expect((await problem({ queue: 'x'.repeat(10_000) }))?.length).toBeLessThan(200)
  expect((await problem({ ['x'.repeat(10_000)]: 1 }))?.length).toBeLessThan(400)
})

test('options that are too large are refused before anything prints them', async () => {
  const gigabyte = `{"tags": [${Array(9000).fill('1e131071').join(',')}]}`

  expect(await askValue(db.admin, 'select holdfast.option_problem($1)', [gigabyte])).toMatch(/larger than 16384 bytes/)
})

test('all options at their longest fit', async () => {
  const longest = {
    key: 'x'.repeat(512),
    dedupe_id: 'x'.repeat(512),
    queue: '😀'.repeat(100),
    tags: Array(20).fill('😀'.repeat(100)),
  }

  expect(await problem(longest)).toBeNull()
})

test('every good option is also stored and claimed', async () => {
  for (const options of good) await ask(db.pool, `select holdfast.enqueue('task', '{}', $1)`, [JSON.stringify(options)])
})
