// What surrounds a handler: the asynchronous context of its worker, whatever it was that led to the start.
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { defineJob, definePipeline } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const surroundings = new AsyncLocalStorage<string>()
const look = defineJob({
  type: 'look',
  run() {
    const seen = surroundings.getStore()
    surroundings.enterWith('what a handler left behind')
    return seen
  },
})
const chain = definePipeline({
  name: 'chain',
  build: (p) => p.job(look, {}, { name: 'second', after: [p.job(look, {}, { name: 'first' })] }),
})

test('a handler sees what its worker was started in, and nothing of who enqueued it or of the step before it', async () => {
  const holdfast = bench.open({ jobs: [look], pipelines: [chain] })
  const enqueue = () => surroundings.run('a request', () => holdfast.enqueue(look, {}))
  const found = await enqueue()
  await surroundings.run('the start of the program', () => holdfast.start())
  let heldAtOnce = 0
  holdfast.on('job.enqueued', ({ isClaimed }) => {
    heldAtOnce += isClaimed ? 1 : 0
  })

  const seen = [await found.result()]
  // Into its hands, unless it is just looking for more.
  while (heldAtOnce === 0) seen.push(await (await enqueue()).result())
  seen.push(await (await surroundings.run('a request', () => holdfast.enqueuePipeline(chain, {}))).result())

  expect(new Set(seen)).toEqual(new Set(['the start of the program']))
  expect(seen.length).toBeGreaterThan(2)
})
