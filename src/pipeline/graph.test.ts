import { expect, test } from 'vitest'
import { defineJob } from '../domain/job/definition.js'
import { definePipeline, type PipelineDefinition } from '../domain/pipeline/pipeline.js'
import { graphText } from './graph.js'

const load = defineJob({ type: 'load', queue: 'bulk', run: ({ year }: { year: number }) => ({ rows: year }) })
const keyed = defineJob({ type: 'keyed', key: ({ year }: { year: number }) => year, run: () => 1 })
const merged = defineJob({ type: 'merged', key: () => 'k', keyPolicy: 'coalesce', run: () => 1 })

const described = async (pipeline: PipelineDefinition, input: unknown = null) => {
  const { pipeline: facts, steps } = await graphText(pipeline, input)
  return { pipeline: JSON.parse(facts), steps: JSON.parse(steps) }
}

test('steps are members of an enqueue with their name and those they come after', async () => {
  const yearly = definePipeline({
    name: 'yearly',
    build(p, years: number[]) {
      const all = p.map(years, load, (year) => ({ year }), { name: 'years' })
      return p.job(load, { all }, (r) => ({ year: r.all.length }), { name: 'sum', priority: 1 })
    },
  })

  expect(await described(yearly, [2025, 2026])).toEqual({
    pipeline: { name: 'yearly', on_failure: 'stop', result: 'sum', input: [2025, 2026] },
    steps: [
      { name: 'years[0]', type: 'load', queue: 'bulk', priority: 5, max_attempts: 3, input: { year: 2025 } },
      { name: 'years[1]', type: 'load', queue: 'bulk', priority: 5, max_attempts: 3, input: { year: 2026 } },
      {
        name: 'sum',
        after: ['years[0]', 'years[1]'],
        type: 'load',
        queue: 'bulk',
        priority: 1,
        max_attempts: 3,
        input: { 'holdfast.results': ['all'] },
      },
    ],
  })
})

test('a list without items leaves those after it with nothing to wait for', async () => {
  const none = definePipeline({
    name: 'none',
    build: (p, _: null) => p.job(load, { all: p.map([], load, () => ({ year: 1 })) }, () => ({ year: 0 })),
  })

  const { steps } = await described(none)

  expect(steps).toMatchObject([{ name: 'load', input: { 'holdfast.results': ['all'] } }])
  expect(steps[0]).not.toHaveProperty('after')
})

test('a compensation is stored with the settings of its job', async () => {
  const undone = definePipeline({
    name: 'undone',
    onFailure: 'compensate',
    build: (p, _: null) =>
      p.job(load, { year: 1 }, { compensate: { job: keyed, input: ({ rows }) => ({ year: rows }) } }),
  })

  expect((await described(undone)).steps[0].compensate).toEqual({
    type: 'keyed',
    queue: 'default',
    priority: 5,
    max_attempts: 3,
  })
})

test('a key comes from the input where that is known, else it must be given', async () => {
  const build = (key?: string) =>
    definePipeline({
      name: 'keys',
      build(p, _: null) {
        const first = p.job(keyed, { year: 7 }, { name: 'first' })
        return p.job(keyed, { first }, () => ({ year: 8 }), { name: 'second', ...(key !== undefined && { key }) })
      },
    })

  const { steps } = await described(build('own'))
  expect(steps).toMatchObject([
    { key: '7', key_policy: 'exclusive' },
    { key: 'own', key_policy: 'exclusive' },
  ])
  await expect(described(build())).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test.each([
  ['a job that coalesces', definePipeline({ name: 'x', build: (p, _: null) => p.job(merged, null) })],
  [
    'a name that looks like an item',
    definePipeline({ name: 'x', build: (p, _: null) => p.job(load, { year: 1 }, { name: 'a[1]' }) }),
  ],
  [
    'something that is no job',
    definePipeline({ name: 'x', build: (p, _: null) => p.job({} as typeof load, { year: 1 }) }),
  ],
  [
    'items that are no list',
    definePipeline({ name: 'x', build: (p, _: null) => void p.map(7 as never, load, () => ({ year: 1 })) }),
  ],
])('%s is refused', async (_what, pipeline) => {
  await expect(described(pipeline as PipelineDefinition)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
})

test.each([
  ['no name', { name: '' }],
  ['an unknown way to deal with failure', { onFailure: 'explode' }],
  ['an input that is no schema', { input: {} }],
  ['no build', { build: undefined }],
])('a definition with %s is refused', (_what, wrong) => {
  const options = { name: 'x', build: () => undefined, ...wrong } as never

  expect(() => definePipeline(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})
