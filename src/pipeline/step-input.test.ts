import { expect, test } from 'vitest'
import { defineJob } from '../domain/job/definition.js'
import type { ClaimedJob } from '../domain/job/job.js'
import { definePipeline, indexByName } from '../domain/pipeline/pipeline.js'
import type { StepResults } from '../domain/pipeline/step-results.js'
import { computeInput, isComputed } from './step-input.js'

const load = defineJob({ type: 'load', run: (n: number) => ({ rows: n }) })
const undo = defineJob({ type: 'undo', run: (_: { rows: number }) => null })
const sum = defineJob({ type: 'sum', run: (_: { seen: unknown; at?: Date }) => null })

const stop = definePipeline({
  name: 'stop',
  build(p, factor: number) {
    const one = p.job(load, 1)
    const many = p.map([1, 2], load, (n) => n, { name: 'many' })
    return p.job(sum, { one, many }, (r) => ({
      seen: [factor, r.one.rows, ...r.many.map(({ rows }) => rows)],
      at: new Date(0),
    }))
  },
})
const go = definePipeline({
  name: 'go',
  onFailure: 'continue',
  build: (p, _: number) => p.job(sum, { one: p.job(load, 1) }, (r) => ({ seen: r.one })),
})
const back = definePipeline({
  name: 'back',
  onFailure: 'compensate',
  build: (p, _: number) => p.job(load, 1, { compensate: { job: undo, input: ({ rows }) => ({ rows }) } }),
})
const definitions = indexByName([stop, go, back])
const done = (rows: number) => ({ state: 'completed' as const, output: { rows } })
const facts = (more: Partial<StepResults>): StepResults => ({
  pipeline: 'stop',
  input: 10,
  step: 'sum',
  compensates: null,
  results: {},
  ...more,
})

test('an input is computed from the pipeline input and the outputs of the steps before, as JSON has it', async () => {
  const results = { load: done(1), 'many[0]': done(2), 'many[1]': done(3) }

  expect(await computeInput(definitions, facts({ results }))).toEqual({
    seen: [10, 1, 2, 3],
    at: '1970-01-01T00:00:00.000Z',
  })
})

test('where the pipeline goes on after failures, results say what each step came to', async () => {
  const error = { name: 'Error', message: 'broken' }
  const results = { load: { state: 'failed' as const, error } }

  expect(await computeInput(definitions, facts({ pipeline: 'go', results }))).toEqual({
    seen: { state: 'failed', error },
  })
})

test('a compensation gets what the step that it takes back returned', async () => {
  const wanted = facts({ pipeline: 'back', step: 'undo load', compensates: 'load', results: { load: done(7) } })

  expect(await computeInput(definitions, wanted)).toEqual({ rows: 7 })
})

test.each([
  ['a pipeline that is not defined here', { pipeline: 'other' }, 'UNKNOWN_PIPELINE'],
  ['a step that the definition no longer has', { step: 'gone' }, 'UNKNOWN_STEP'],
  ['a step whose input is no longer computed', { step: 'load' }, 'UNKNOWN_STEP'],
  ['a compensation that the definition no longer has', { step: 'undo load', compensates: 'load' }, 'UNKNOWN_STEP'],
])('%s is refused', async (_what, more, code) => {
  await expect(computeInput(definitions, facts(more))).rejects.toMatchObject({ code })
})

test.each([
  [{ pipelineId: 'p', input: { 'holdfast.results': ['a'] } }, true],
  [{ pipelineId: 'p', input: { 'holdfast.compensates': 'a' } }, true],
  [{ pipelineId: null, input: { 'holdfast.results': ['a'] } }, false],
  [{ pipelineId: 'p', input: { results: [] } }, false],
  [{ pipelineId: 'p', input: null }, false],
  [{ pipelineId: 'p', input: 'holdfast.results' }, false],
])('%j: computed is %s', (job, isSo) => {
  expect(isComputed(job as ClaimedJob)).toBe(isSo)
})

test('two pipelines of one name are refused', () => {
  expect(() => indexByName([stop, stop])).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})
