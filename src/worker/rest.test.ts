import { expect, test } from 'vitest'
import { Rest } from './rest.js'

const LONG_MS = 600_000

test('a rest that nobody ends is over after its time', () => {
  expect(new Rest().take(1)).toBe(true)
})

test('who is woken gets up, who is dismissed does not, whoever came first', () => {
  const [woken, dismissed] = [new Rest(), new Rest()]
  woken.wake()
  dismissed.dismiss()

  expect(new Rest(woken.memory).take(LONG_MS)).toBe(true)
  expect(new Rest(dismissed.memory).take(LONG_MS)).toBe(false)
})
