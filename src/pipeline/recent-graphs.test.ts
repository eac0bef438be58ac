import { expect, test } from 'vitest'
import { defineJob } from '../domain/job/definition.js'
import { definePipeline } from '../domain/pipeline/pipeline.js'
import { RecentGraphs } from './recent-graphs.js'

const noop = defineJob({ type: 'noop', run: (_: number) => null })
let built: number[] = []
const two = definePipeline({
  name: 'two',
  build(p, n: number) {
    built.push(n)
    return p.job(noop, n, { name: 'b', after: [p.job(noop, n, { name: 'a' })] })
  },
})
const asked = async (graphs: RecentGraphs, ids: readonly number[]): Promise<number[]> => {
  built = []
  for (const id of ids) await graphs.of(`p${id}`, two, id)
  return built
}

test('a pipeline is built once, however many of its steps ask', async () => {
  const graphs = new RecentGraphs()

  expect(await asked(graphs, [1, 1, 2, 1])).toEqual([1, 2])
  expect([...(await graphs.of('p2', two, 2)).steps.keys()]).toEqual(['a', 'b'])
})

test('those that were asked for longest ago make room, and are built again when they are asked for', async () => {
  const graphs = new RecentGraphs(4)

  expect(await asked(graphs, [1, 2, 1, 3])).toEqual([1, 2, 3])
  expect(await asked(graphs, [1, 3, 2])).toEqual([2])
})

test('a pipeline that is greater than all the room is built for each that asks', async () => {
  expect(await asked(new RecentGraphs(1), [1, 1])).toEqual([1, 1])
})
