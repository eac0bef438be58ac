// Races inside a function, between two of its statements.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRace, type Race } from './race.js'
import * as windows from './windows.js'

let race: Race
beforeAll(async () => {
  race = await openRace()
})
afterAll(() => race.close())

test('a parked job that is claimed by id while its key is freed does not stay parked behind nobody', async () => {
  expect(await windows.parkedJobClaimedWhileItsKeyIsFreed(race)).toEqual([])
})

test('a cancellation that met the first claim of a key does not deadlock with its completion', async () => {
  expect(await windows.firstClaimOfKeyCancelledWhileItCompletes(race)).toEqual([])
})

test('a job that is claimed again while its completion is under way stays with its new holder', async () => {
  expect(await windows.jobClaimedAgainWhileItCompletes(race)).toEqual([])
})

test('a lease that is renewed just before the reaper locks it is not reaped', async () => {
  expect(await windows.leaseRenewedWhileItIsReaped(race)).toEqual([])
})
