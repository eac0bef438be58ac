// Jobs in a thread or process of their own: one never returns, one takes more memory than it may, one sleeps
// between its steps, one ends at once.
import { threadId } from 'node:worker_threads'
import { defineJob } from 'holdfast'

const module = import.meta.url
const retry = { attempts: 1 }

export const spinInProcess = spin('process')
export const spinInThread = spin('thread')
export const hogInProcess = hog('process')
export const hogInThread = hog('thread')
export const quickInThread = defineJob({
  type: 'quick_thread',
  queue: 'isolated',
  isolate: 'thread',
  module,
  retry,
  run: () => 'done',
})
export const stepsInProcess = steps('process')
export const stepsInThread = steps('thread')

function spin(isolate) {
  return defineJob({
    type: `spin_${isolate}`,
    queue: 'isolated',
    isolate,
    module,
    retry,
    // Long enough that a slow machine has started the isolate before.
    timeout: '3s',
    async run(_, ctx) {
      await ctx.tx((tx) =>
        tx.query('insert into started (job_id, token, pid) values ($1, $2, $3)', [ctx.job.id, threadId, process.pid]),
      )
      for (;;);
    },
  })
}

function hog(isolate) {
  return defineJob({
    type: `hog_${isolate}`,
    queue: 'isolated',
    isolate,
    module,
    retry,
    memory: 64,
    timeout: '1m',
    run() {
      const kept = []
      for (;;) kept.push(new Array(100_000).fill(kept.length + 0.5))
    },
  })
}

function steps(isolate) {
  return defineJob({
    type: `steps_${isolate}`,
    queue: 'isolated',
    isolate,
    module,
    retry,
    async run(_, ctx) {
      const first = await ctx.step('first', () => ctx.job.token)
      await ctx.sleep('1ms')
      return { first, last: ctx.job.token, paid: await ctx.waitFor('paid') }
    },
  })
}
