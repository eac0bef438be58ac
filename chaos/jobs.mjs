// The jobs that the scenarios run. What they leave behind is in the tables of chaos/tables.mjs.
import { setTimeout as wait } from 'node:timers/promises'
import { defineJob, definePipeline } from 'holdfast'

/** @param {{ lease?: string }} [options] the lease of every type; 30 s by default, as in the library */
export function chaosJobs({ lease = '30s' } = {}) {
  const retry = RETRY
  const relay = relayJob(lease)
  return [
    defineJob({ type: 'noop', lease, retry, run: pauseFor }),
    defineJob({ type: 'hold', lease, retry, run: hold }),
    defineJob({ type: 'effect', lease, retry, run: effect }),
    defineJob({ type: 'block', lease, retry, run: block }),
    defineJob({ type: 'stubborn', lease, retry, run: ({ ms }) => wait(ms) }),
    defineJob({ type: 'steps', lease, retry, run: steps }),
    relay,
    defineJob({ type: 'poison', lease, retry: { ...retry, attempts: 10 }, run: poison }),
  ]
}

const RETRY = { attempts: 20, base: '200ms', max: '2s' }

const relayJob = (lease) => defineJob({ type: 'relay', lease, retry: RETRY, run: passOn })

/** Each step gets the number of the hop from what the one before it gave. */
export const relayPipeline = definePipeline({
  name: 'relay',
  build(p, { hops, ms }) {
    const job = relayJob('30s')
    let last = p.job(job, { hop: 1, ms }, { name: 'hop 1' })
    for (let n = 2; n <= hops; n += 1) {
      last = p.job(job, { last }, (r) => ({ hop: r.last.hop + 1, ms }), { name: `hop ${n}` })
    }
    return last
  },
})

async function passOn({ hop, ms }, ctx) {
  await waitUnless(ctx.signal, Math.random() * ms)
  const { pipelineId, token } = ctx.job
  await ctx.tx(async (tx) => {
    await tx.query('insert into relay_log (pipeline_id, hop, token) values ($1, $2, $3)', [pipelineId, hop, token])
    await ctx.complete(tx, { hop })
  })
}

async function pauseFor({ ms = 0 }, ctx) {
  if (ms > 0) await waitUnless(ctx.signal, ms)
}

async function hold({ ms }, ctx) {
  await ctx.tx((tx) =>
    tx.query('insert into started (job_id, token, pid) values ($1, $2, $3)', [ctx.job.id, ctx.job.token, process.pid]),
  )
  await waitUnless(ctx.signal, ms)
}

/** Takes effect and completes in one transaction. `effect_log` has no key of its own: a second effect would be counted. */
async function effect({ beforeMs = 0, insideMs = 0 }, ctx) {
  if (beforeMs > 0) await waitUnless(ctx.signal, beforeMs)
  const { id, token } = ctx.job
  await ctx.tx(async (tx) => {
    await tx.query('insert into effect_log (job_id, token) values ($1, $2)', [id, token])
    await tx.query('insert into effect (job_id, token) values ($1, $2) on conflict do nothing', [id, token])
    if (insideMs > 0) await wait(insideMs)
    await ctx.complete(tx)
  })
}

/** Three steps, each with an effect; with `deadly` the process ends as soon as a step is remembered, once for each. */
async function steps({ deadly = false, restMs = 0 }, ctx) {
  const outputs = []
  for (const name of ['one', 'two', 'three']) {
    let isFresh = false
    const output = await ctx.step(name, async () => {
      isFresh = true
      const { id, token } = ctx.job
      await ctx.tx((tx) =>
        tx.query('insert into step_log (job_id, token, name) values ($1, $2, $3)', [id, token, name]),
      )
      return `${name} by ${token}`
    })
    outputs.push(output)
    if (deadly && isFresh) process.kill(process.pid, 'SIGKILL')
    if (restMs > 0) await ctx.sleep(restMs)
  }
  return outputs
}

/** Holds up the event loop, after a moment in which its neighbours can begin; no core is kept from other processes. */
async function block({ afterMs = 0, ms }) {
  await wait(afterMs)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Ends its own process. The line it logs is stored before. */
async function poison({ by }, ctx) {
  const { id, token } = ctx.job
  ctx.log.info({}, `about to end by ${by}`)
  const stored = () => ctx.tx((tx) => tx.query('select from holdfast.read_logs_v1($1) where token = $2', [id, token]))
  do await wait(700)
  while ((await stored()).rows.length === 0)
  if (by === 'exit') process.exit(1)
  process.kill(process.pid, 'SIGKILL')
}

/** @param {AbortSignal} signal */
async function waitUnless(signal, ms) {
  const toldAt = performance.now()
  await wait(ms, undefined, { signal }).catch(() => {
    const { code } = signal.reason
    process.stdout.write(
      `${JSON.stringify({ event: 'aborted', code, afterMs: Math.round(performance.now() - toldAt) })}\n`,
    )
    throw signal.reason
  })
}
