import { expect, test } from 'vitest'
import { checkJobFilter, type JobFilter } from './job-filter.js'

test('a filter without parts means every job', () => {
  expect(checkJobFilter({})).toEqual({})
})

test('values that are named twice count once', () => {
  expect(checkJobFilter({ states: ['failed', 'failed'], ids: ['7', '7'] })).toEqual({ states: ['failed'], ids: ['7'] })
})

test.each<[string, unknown, RegExp]>([
  ['null', null, /filter must be an object/],
  ['an unknown part', { colour: 'red' }, /part of the filter must be one of/],
  ['an empty list', { states: [] }, /states must be a list of 1 to 50/],
  ['a text for a list', { types: 'a' }, /types must be a list/],
  ['an unknown state', { states: ['lost'] }, /state must be/],
  ['a moment that is none', { since: new Date(Number.NaN) }, /since must be a Date/],
  ['a moment beyond the calendar', { until: new Date(8e15) }, /until must be a Date/],
  ['an empty search text', { error: '' }, /error must be a text/],
  ['a search text that cannot be stored', { error: 'a\u0000' }, /error must be a text/],
  ['a search text without end', { worker: 'x'.repeat(513) }, /worker must be a text/],
  ['too many conditions', { input: Array.from({ length: 6 }, () => ({ path: ['a'], value: '1' })) }, /at most 5/],
  ['a path without steps', { input: [{ path: [], value: '1' }] }, /1 to 16 steps/],
  ['a path of numbers', { input: [{ path: [1], value: '1' }] }, /step of a path/],
  ['a value that is no text', { input: [{ path: ['a'], value: 1 }] }, /value in the input/],
])('%s is refused', (_what, filter, message) => {
  expect(() => checkJobFilter(filter as JobFilter)).toThrow(message)
})
