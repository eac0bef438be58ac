// backoff_ms: the same delay as the TypeScript formula, for any type, attempt and chance.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from '../../../src/domain/run/backoff.js'
import { askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const backoff = async (base: number, max: number, attempt: number, chance: number) =>
  Number(await askValue<string>(db.admin, 'select holdfast.backoff_ms($1, $2, $3, $4)', [base, max, attempt, chance]))

const TEN_YEARS = 3650 * 86_400_000
// Chances whose products are exact in both, so that the last digit of a double cannot tip a rounding.
const chances = fc.integer({ min: 0, max: 1024 }).map((n) => n / 1024)

test('SQL and TypeScript agree', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 86_400_000 }),
      fc.integer({ min: 0, max: TEN_YEARS }),
      fc.integer({ min: 1, max: 1000 }),
      chances,
      async (base, more, attempt, chance) => {
        const maxMs = Math.min(base + more, TEN_YEARS)

        expect(await backoff(base, maxMs, attempt, chance)).toBe(backoffMs({ baseMs: base, maxMs }, attempt, chance))
      },
    ),
    { numRuns: 100 },
  )
})

test.each([
  [1000, 3_600_000, 1, 0, 500],
  [1000, 3_600_000, 1, 1, 1000],
  [1000, 3_600_000, 3, 1, 4000],
  [1000, 3_600_000, 30, 1, 3_600_000],
  [0, 0, 5, 1, 0],
  [1, 1, 1000, 0, 1],
  [31_363_479, 185_637_873_301, 14, 0.8154296875, 168_506_253_157],
])('base %s, max %s, attempt %s, chance %s: %s', async (base, max, attempt, chance, expected) => {
  expect(await backoff(base, max, attempt, chance)).toBe(expected)
})
