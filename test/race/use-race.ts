// A race database for a file of tests that play scenarios, and the sum of what it has played.
import { afterAll, beforeAll, expect } from 'vitest'
import type { Operation, Policy, Start } from './operations.js'
import { type Findings, openRace, type Race, type Scenario, sum } from './race.js'

export function useRace() {
  let race: Race | undefined
  const played: Findings[] = []
  beforeAll(async () => {
    race = await openRace()
  })
  afterAll(() => race?.close())

  return {
    async expectSound(scenarios: readonly Scenario[]): Promise<void> {
      const findings: Findings[] = []
      for (const scenario of scenarios) if (race) findings.push(await race.playAll(scenario))
      played.push(...findings)
      expect(sum(findings).violations).toEqual([])
    },
    /** Says what was played. An empty generator, or sessions that never meet, must not pass for success. */
    expectPlayed({ permutations: least, waits: leastWaits }: { permutations: number; waits: number }, what: string) {
      const { permutations, waits, violations } = sum(played)
      console.log(`${what}: ${permutations} permutations, ${waits} waits, ${violations.length} violations`)
      expect(permutations).toBeGreaterThanOrEqual(least)
      expect(waits).toBeGreaterThanOrEqual(leastWaits)
    },
  }
}

/** Every operation with every other and with itself. */
export function pairs(start: Start, policy: Policy, jobs: 1 | 2, possible: readonly Operation[]): Scenario[] {
  return possible.flatMap((one, index) =>
    possible.slice(index).map((other) => ({ start, policy, jobs, operations: [one, other] })),
  )
}

/** Every operation, rolled back, with every other that commits. */
export function pairsWithRollback(
  start: Start,
  policy: Policy,
  jobs: 1 | 2,
  possible: readonly Operation[],
): Scenario[] {
  return possible.flatMap((one) =>
    possible.map((other) => ({
      start,
      policy,
      jobs,
      operations: [one, other],
      endings: ['rollback', 'commit'] as const,
    })),
  )
}
