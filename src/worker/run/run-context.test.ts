import { expect, test } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { SILENT } from '../../observe/log.js'
import type { LeasedCalls } from '../leased-calls.js'
import { Cancellation } from './cancellation.js'
import { durableStepCalls } from './durable-step-calls.test-support.js'
import { RunContext, RunState } from './run-context.js'

function context() {
  const done: string[] = []
  const leasedCalls: LeasedCalls = {
    async progress(_, share) {
      done.push(`progress ${share}`)
      return true
    },
    async tx(_, work) {
      done.push('begin')
      const result = await work({ query: async () => ({ rows: [] }) })
      done.push('commit')
      return result
    },
    async complete() {
      done.push('complete')
    },
    ...durableStepCalls(),
  }
  return {
    done,
    ctx: new RunContext(new RunState({ id: '1' } as ClaimedJob, new Cancellation(), leasedCalls, () => SILENT)),
  }
}

test('progress reported inside the run’s own transaction is written after it, the latest only', async () => {
  const { ctx, done } = context()
  await ctx.tx(async () => {
    await ctx.progress(0.1)
    await ctx.progress(0.2)
  })
  await ctx.progress(0.3)

  expect(done).toEqual(['begin', 'commit', 'progress 0.2', 'progress 0.3'])
})

test('a transaction that completed the job reports no progress any more', async () => {
  const { ctx, done } = context()
  await ctx.tx(async (tx) => {
    await ctx.progress(0.9)
    await ctx.complete(tx)
  })

  expect(done).toEqual(['begin', 'complete', 'commit'])
})
