// Thousands of jobs on three hot keys under sixteen workers; and the same with a claim that is known to be wrong.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../support/ask.js'
import { expectPlacesSound } from '../support/places.js'
import { holdfastProtocol, seedProtocol } from './claim-protocols.js'
import { hammer, lostJobs, Notes } from './hammer.js'
import { openRace, type Race } from './race.js'

let race: Race
beforeAll(async () => {
  race = await openRace()
})
afterAll(() => race.close())

// Where jobs take the place of others, more are needed for as many claims.
test.each([
  ['exclusive', 1000],
  ['supersede', 4000],
  ['coalesce', 2000],
])('%s keys: no overlap, no error, nothing stale taken, no job lost', async (policy, jobs) => {
  await ask(race.admin, 'select race.reset()')
  const notes = new Notes()
  const report = await hammer(race, holdfastProtocol(policy, jobs), notes)
  const lost = await lostJobs(race, notes)
  console.log(policy, JSON.stringify({ ...report, lost: lost.length }))

  expect(report).toMatchObject({ overlaps: 0, uniqueViolations: 0, deadlocks: 0, otherErrors: [], staleTaken: 0 })
  expect(report.breaches).toEqual([])
  expect(lost).toEqual([])
  expect(report.isDrained).toBe(true)
  await expectPlacesSound(race.admin)
  // Nothing of this was put to the test unless stale leases were presented and many claims were made.
  expect(report.staleRefused).toBeGreaterThan(0)
  expect(report.claims).toBeGreaterThan(100)
})

test('a claim that takes the flag from the others of its key runs two of them at once, and the auditor sees it', async () => {
  await ask(race.admin, 'select race.reset()')
  await ask(race.admin, await readFile(new URL('seed-claim.sql', import.meta.url), 'utf8'))
  const report = await hammer(race, seedProtocol(1000), new Notes())
  console.log('flag and index', JSON.stringify({ ...report, breaches: undefined }))

  expect(report.overlaps).toBeGreaterThan(0)
})
