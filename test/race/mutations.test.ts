// The race tests are worth what they catch: each known way to break the functions is tried and must be seen.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MUTATIONS, type Mutation } from './mutations.js'
import { withPatch } from './patches.js'
import { openRace, type Race } from './race.js'

let race: Race
const table: string[] = []
beforeAll(async () => {
  race = await openRace()
})
afterAll(() => race.close())

test.each(MUTATIONS.map((mutation): [string, Mutation] => [mutation.name, mutation]))(
  'it is seen when %s',
  async (name, { patch, caughtBy }) => {
    expect(await caughtBy.run(race)).toEqual([])

    const violations = await withPatch(race, patch, () => caughtBy.run(race))

    expect(violations).not.toEqual([])
    table.push(`${name} → ${caughtBy.name}: ${violations[0]?.replace(/ \[.*/, '')}`)
  },
)

test('all mutations were tried', () => {
  console.log(table.join('\n'))
  expect(table).toHaveLength(MUTATIONS.length)
  expect(table.length).toBeGreaterThanOrEqual(20)
})
