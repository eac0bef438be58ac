import { expect, test } from 'vitest'
import { RenewalHealth } from './renewal-health.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

function waiting(health: RenewalHealth) {
  const state = { isOver: false }
  void health.whenHealthy().then(() => {
    state.isOver = true
  })
  return state
}

test('claims wait from the first failure until leases can be renewed again', async () => {
  const health = new RenewalHealth()
  await health.whenHealthy()
  health.set(false)
  const early = waiting(health)
  health.set(false)
  const late = waiting(health)
  await turn()
  expect([health.isHealthy, early.isOver, late.isOver]).toEqual([false, false, false])

  health.set(true)

  await turn()
  expect([health.isHealthy, early.isOver, late.isOver]).toEqual([true, true, true])
})

test('a worker that stops ends the wait', async () => {
  const health = new RenewalHealth()
  health.set(false)
  const claim = waiting(health)

  health.stopWaiting()

  await turn()
  expect([health.isHealthy, claim.isOver]).toEqual([false, true])
})
