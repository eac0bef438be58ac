// read_statistics: statistics of a span, in steps, of queues and types.
import { beforeEach, expect, test } from 'vitest'
import { ask, askRow, type Row } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const SPAN = ['2026-03-01T12:00:00Z', '2026-03-01T13:00:00Z']

beforeEach(async () => {
  await ask(
    db.admin,
    `insert into holdfast.statistics_minute (minute, queue, type, fact, n, wait_ms, run_ms, wait_buckets, run_buckets)
     select m::timestamptz, q, t, f, n, 10 * n, 100 * n, array_fill(n, array[17]), array_fill(2 * n, array[17])
       from (values
         ('2026-03-01T11:59:00Z', 'a', 'x', 'completed', 100),
         ('2026-03-01T12:00:00Z', 'a', 'x', 'completed', 1),
         ('2026-03-01T12:04:00Z', 'b', 'x', 'completed', 2),
         ('2026-03-01T12:04:00Z', 'a', 'y', 'failed', 4),
         ('2026-03-01T12:05:00Z', 'a', 'x', 'completed', 8),
         ('2026-03-01T13:00:00Z', 'a', 'x', 'completed', 100)
       ) as v(m, q, t, f, n)`,
  )
})

const read = (step: string, queues?: string[], types?: string[]): Promise<Row[]> =>
  ask(
    db.pool,
    `select at, fact, n::int, wait_ms::int, run_ms::int, wait_buckets[17]::int as last_wait, run_buckets[1]::int as first_run
                  from holdfast.read_statistics_v1($1, $2, $3, $4, $5)`,
    [...SPAN, step, queues ?? null, types ?? null],
  )

test('minutes of a step are added up by fact', async () => {
  expect(await read('5 minutes')).toEqual([
    {
      at: new Date('2026-03-01T12:00:00Z'),
      fact: 'completed',
      n: 3,
      wait_ms: 30,
      run_ms: 300,
      last_wait: 3,
      first_run: 6,
    },
    {
      at: new Date('2026-03-01T12:00:00Z'),
      fact: 'failed',
      n: 4,
      wait_ms: 40,
      run_ms: 400,
      last_wait: 4,
      first_run: 8,
    },
    {
      at: new Date('2026-03-01T12:05:00Z'),
      fact: 'completed',
      n: 8,
      wait_ms: 80,
      run_ms: 800,
      last_wait: 8,
      first_run: 16,
    },
  ])
})

test('queues and types narrow it', async () => {
  expect(await read('1 hour', ['a'])).toMatchObject([{ n: 9 }, { n: 4 }])
  expect(await read('1 hour', ['a'], ['y'])).toMatchObject([{ fact: 'failed', n: 4 }])
  expect(await read('1 hour', ['none'])).toMatchObject([{ fact: null }])
})

test('it returns up to when all is counted', async () => {
  await ask(
    db.admin,
    `insert into holdfast.statistics_mark (counted_to, folded_to) values ('2026-03-01T12:30:00Z', '2026-03-01T00:00:00Z')`,
  )

  expect(
    await askRow(db.pool, `select counted_to from holdfast.read_statistics_v1($1, $2, '1 hour', '{none}')`, SPAN),
  ).toEqual({
    counted_to: new Date('2026-03-01T12:30:00Z'),
  })
})

test.each([
  ['2026-03-01', '2026-03-02', '30 seconds'],
  ['2026-03-01', '2026-03-02', '90 seconds'],
  ['2026-03-02', '2026-03-01', '1 minute'],
  ['2026-03-01', '2026-03-03', '1 minute'],
  ['2026-01-01', '2026-03-03', '1 day'],
])('from %s to %s by %s is refused', async (...span) => {
  await expect(ask(db.pool, 'select * from holdfast.read_statistics_v1($1, $2, $3)', span)).rejects.toMatchObject({
    code: 'JH005',
  })
})
