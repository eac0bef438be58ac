// Which due ticks are fired: on time, missed by policy, within the window.
import { describe, expect, test } from 'vitest'
import type { MissedPolicy, Timing } from '../domain/schedule/schedule.js'
import { planFiring, TICKS_PER_CLAIM } from './firing.js'

const every = (everyMs: number): Timing => ({
  cron: null,
  everyMs,
  timezone: 'UTC',
  gap: null,
  twice: null,
  startsAt: null,
  endsAt: null,
})
const HOURLY = every(3_600_000)
const DAY_MS = 86_400_000
const at = (time: string) => new Date(`2026-03-01T${time}Z`)
const plan = (missed: MissedPolicy, due: string, now: string, windowMs = DAY_MS, timing = HOURLY) =>
  planFiring(timing, { missed, windowMs }, at(due), at(now))

describe.each(['skip', 'last', 'all'] as const)('%s', (missed) => {
  test('a tick that is not later than its grace is fired', () => {
    expect(plan(missed, '09:00', '09:00:30')).toEqual({ fire: [at('09:00')], missed: [], next: at('10:00') })
  })
})

test('three hours down, skip: nothing is fired and three ticks are given up', () => {
  expect(plan('skip', '09:00', '11:30')).toEqual({
    fire: [],
    missed: [at('09:00'), at('10:00'), at('11:00')],
    next: at('12:00'),
  })
})

test('three hours down, last: the latest is fired', () => {
  expect(plan('last', '09:00', '11:30')).toEqual({
    fire: [at('11:00')],
    missed: [at('09:00'), at('10:00')],
    next: at('12:00'),
  })
})

test('three hours down, all: each is fired', () => {
  expect(plan('all', '09:00', '11:30')).toEqual({
    fire: [at('09:00'), at('10:00'), at('11:00')],
    missed: [],
    next: at('12:00'),
  })
})

test('last fires nothing beside a tick that is on time', () => {
  expect(plan('last', '09:00', '11:00:05')).toMatchObject({ fire: [at('11:00')], missed: [at('09:00'), at('10:00')] })
})

test.each([
  ['last', []],
  ['all', []],
] as const)('%s: what lies before the window is given up', (missed, fire) => {
  expect(plan(missed, '09:00', '11:50', 600_000)).toEqual({
    fire,
    missed: [at('09:00'), at('10:00'), at('11:00')],
    next: at('12:00'),
  })
})

test('all fires what lies within the window', () => {
  expect(plan('all', '09:00', '11:30', 2 * 3_600_000)).toMatchObject({
    fire: [at('10:00'), at('11:00')],
    missed: [at('09:00')],
  })
})

test('a window of nothing still fires what is on time', () => {
  expect(plan('all', '09:00', '09:00:10', 0)).toMatchObject({ fire: [at('09:00')] })
})

test('a short interval has a short grace', () => {
  const tenSeconds = every(10_000)

  expect(plan('skip', '09:00:00', '09:00:05', DAY_MS, tenSeconds)).toMatchObject({ fire: [at('09:00:00')] })
  expect(plan('skip', '09:00:00', '09:00:06', DAY_MS, tenSeconds)).toMatchObject({ fire: [], missed: [at('09:00:00')] })
})

test('more ticks than one claim holds are left for the next, which is due at once', () => {
  const { fire, next } = plan('all', '00:00:00', '01:00:00', DAY_MS, every(1000))

  expect(fire).toHaveLength(TICKS_PER_CLAIM)
  expect(next).toEqual(new Date(at('00:00:00').getTime() + TICKS_PER_CLAIM * 1000))
})

test('a schedule that has ended has no next tick', () => {
  const ending = { ...HOURLY, endsAt: at('10:00') }

  expect(planFiring(ending, { missed: 'last', windowMs: DAY_MS }, at('09:00'), at('09:00:01'))).toEqual({
    fire: [at('09:00')],
    missed: [],
    next: undefined,
  })
})
