// What defineSchedule takes and refuses. Cron and time zone are the calendar's business.
import { expect, test } from 'vitest'
import { defineJob } from '../job/definition.js'
import { defineSchedule, indexByJobKey, type ScheduleOptions } from './define-schedule.js'

const job = defineJob({ type: 'report', run: (input: { n: number }) => input })
const define = (options: Partial<ScheduleOptions>) =>
  defineSchedule({ jobKey: 'nightly', job, input: { n: 1 }, cron: '0 2 * * *', ...options } as ScheduleOptions)

test('a schedule has defaults', () => {
  expect(define({})).toMatchObject({
    jobKey: 'nightly',
    type: 'report',
    cron: '0 2 * * *',
    everyMs: null,
    timezone: 'UTC',
    gap: null,
    twice: null,
    missed: 'last',
    windowMs: 86_400_000,
    overlap: 'allow',
    jitterMs: 0,
    input: { n: 1 },
    options: {},
  })
})

test('durations are milliseconds', () => {
  const { cron: _, ...rest } = { cron: undefined, every: '15m', window: '2h', jitter: '30s' } as const

  expect(defineSchedule({ jobKey: 'k', job, ...rest })).toMatchObject({
    cron: null,
    everyMs: 900_000,
    windowMs: 7_200_000,
    jitterMs: 30_000,
  })
})

test('an input that is a function is kept as one', () => {
  const definition = define({ input: ({ tick }: { tick: Date }) => ({ n: tick.getTime() }) })

  expect(definition.input).toBeUndefined()
  expect(definition.inputOf?.({ tick: new Date(7) })).toEqual({ n: 7 })
})

test.each([
  ['no timing', { cron: undefined }],
  ['two timings', { every: '1m' }],
  ['less than a second', { cron: undefined, every: '999ms' }],
  ['an empty key', { jobKey: '' }],
  ['a long key', { jobKey: 'k'.repeat(91) }],
  ['a key with a line end', { jobKey: 'a\nb' }],
  ['an unknown policy for missed ticks', { missed: 'some' }],
  ['an unknown policy for overlaps', { overlap: 'never' }],
  ['an unknown policy for gaps', { gap: 'before' }],
  ['an unknown policy for repeated times', { twice: 'third' }],
  ['a start that is no Date', { startsAt: '2026-01-01' }],
  ['an end before its start', { startsAt: new Date(2), endsAt: new Date(1) }],
  ['a negative jitter', { jitter: -1 }],
  ['a bad priority', { priority: 10 }],
  ['twenty tags, one more than fit beside its own', { tags: Array.from({ length: 20 }, (_, i) => `t${i}`) }],
])('%s is refused', (_what, options) => {
  expect(() => define(options as Partial<ScheduleOptions>)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

test('superseding needs the key for itself', () => {
  const keyed = defineJob({ type: 'keyed', key: () => 'k', run: () => {} })

  expect(() => define({ job: keyed, overlap: 'supersede' })).toThrow(/key of its own/)
})

test('two definitions of one key are refused by name', () => {
  expect(() => indexByJobKey([define({ jobKey: 'a' }), define({}), define({})])).toThrow(/"nightly"/)
  expect(indexByJobKey([define({ jobKey: 'a' }), define({})]).size).toBe(2)
})
