// The asynchronous context of a handler: that of its worker, whatever caused the start.
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { defineJob, definePipeline } from '../../src/index.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const context = new AsyncLocalStorage<string>()
const read = defineJob({
  type: 'read',
  run() {
    const seen = context.getStore()
    context.enterWith('what a handler left behind')
    return seen
  },
})
const chain = definePipeline({
  name: 'chain',
  build: (p) => p.job(read, {}, { name: 'second', after: [p.job(read, {}, { name: 'first' })] }),
})

test('a handler sees the context of its worker, not that of the enqueue or of the step before it', async () => {
  const holdfast = bench.open({ jobs: [read], pipelines: [chain] })
  const enqueue = () => context.run('a request', () => holdfast.enqueue(read, {}))
  const found = await enqueue()
  const asleep = heard(holdfast, 'worker.asleep')
  await context.run('the start of the program', () => holdfast.start())
  await asleep

  const enqueued = heard(holdfast, 'job.enqueued')
  const seen = [await found.result(), await (await enqueue()).result()]
  seen.push(await (await context.run('a request', () => holdfast.enqueuePipeline(chain, {}))).result())

  expect((await enqueued).isClaimed).toBe(true)
  expect(seen).toEqual(Array(3).fill('the start of the program'))
})
