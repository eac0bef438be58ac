import { createHoldfast } from 'holdfast'
import { chaosJobs } from '../jobs.mjs'
import { startLoad } from '../load.mjs'
import { openProxy } from '../proxy.mjs'
import { pause, until } from '../waiting.mjs'

export const name = 'half-open'
export const what =
  'the network swallows everything without closing a connection; and answers are lost after the commit'

const JOBS = 20
const SWALLOW_MS = 10_000

export async function run(context) {
  const proxy = await openProxy(context.url)
  try {
    const partition = await partitionOne(context, proxy)
    const answers = await loseAnswers(context, proxy)
    return { ...partition, ...answers }
  } finally {
    await proxy.close()
  }
}

/** A worker behind the proxy holds jobs and is cut off; another, beside it, takes them over. */
async function partitionOne(context, proxy) {
  const { fleet, enqueue, value, untilHeldBy, untilIdle, check } = context
  const settings = { lease: '5s', print: ['job.claimed', 'job.completed'] }
  const cutOff = await fleet.startWorker({ ...settings, url: proxy.url })
  const held = [
    ...(await enqueue('noop', Array(JOBS).fill({ ms: 12_000 }))),
    ...(await enqueue('effect', Array(JOBS).fill({ beforeMs: 12_000 }))),
  ]
  await untilHeldBy(cutOff, held.length)
  const other = await fleet.startWorker({ lease: '5s' })
  // Short jobs too, so that claims and outcomes are on their way when the line goes dead.
  const load = startLoad(context, { mix: [{ type: 'noop', input: { ms: 20 }, share: 1 }] })
  await pause(2000)

  const cutAt = performance.now()
  proxy.swallowAll()
  await until('the cut-off worker stops its jobs', async () => cutOff.events('aborted').length >= held.length, {
    ms: 20_000,
  })
  const abortMs = Math.round(performance.now() - cutAt)
  await pause(Math.max(0, SWALLOW_MS - abortMs))
  const takenOver = await value('select count(*)::int from holdfast.jobs where token >= 2 and id = any ($1)', [held])
  const swallowed = proxy.swallowed()
  const claimsBefore = cutOff.events('job.claimed').length

  proxy.heal()
  const healedAt = performance.now()
  await until('the cut-off worker works again', async () => cutOff.events('job.claimed').length > claimsBefore, {
    ms: 150_000,
  })
  const backMs = Math.round(performance.now() - healedAt)
  await load.stop()
  await untilIdle()
  other.kill('SIGTERM')

  const codes = cutOff.events('aborted').map(({ code }) => code)
  check('bytes were swallowed', swallowed > 0, swallowed)
  check(
    'the cut-off worker reported to its handlers that their leases are lost',
    codes.every((code) => code === 'LEASE_LOST'),
    codes,
  )
  check('it did so before the leases ended', abortMs < 5000, abortMs)
  check('its jobs were taken over', takenOver === held.length, takenOver)
  check('it lives', cutOff.isAlive && cutOff.stderr === '', cutOff.stderr)
  check('it works again within 25 s of healing', backMs < 25_000, backMs)
  const toldAt = performance.now()
  cutOff.kill('SIGTERM')
  await Promise.all([cutOff.ended, other.ended])
  const stopMs = Math.round(performance.now() - toldAt)
  check('nothing hangs when it stops', stopMs < 25_000, stopMs)
  return {
    'bytes swallowed': swallowed,
    'handlers aborted after': `${abortMs} ms of a lease of 5 s`,
    'works again after healing': `${backMs} ms`,
  }
}

async function loseAnswers({ fleet, enqueue, acknowledged, value, untilIdle, untilHeldBy, check }, proxy) {
  const client = createHoldfast({ database: proxy.url, jobs: chaosJobs(), maxConnections: 2 })
  const dedupeId = 'asked twice'
  const isStored = async () =>
    (await value('select count(*)::int from holdfast.job where dedupe_id = $1', [dedupeId])) > 0
  try {
    await client.enqueue('noop', {}, { dedupeId: 'opens the connection' }).then(({ id }) => acknowledged.add(id))
    proxy.swallowAnswers()
    const first = client.enqueue('noop', {}, { dedupeId }).then(
      () => 'answered',
      (error) => error.code,
    )
    await until('the job is stored', isStored)
    proxy.cut()
    proxy.heal()
    const outcome = await first
    const again = await client.enqueue('noop', {}, { dedupeId })
    acknowledged.add(again.id)
    const made = await value('select count(*)::int from holdfast.job where dedupe_id = $1', [dedupeId])
    check('the answer to the enqueue was lost', outcome === 'CONNECTION_FAILED', outcome)
    check('asking again gave the one job', made === 1, made)
  } finally {
    await client.close()
  }

  const worker = await fleet.startWorker({ url: proxy.url, print: ['job.completed'] })
  await untilIdle()
  const completedBefore = worker.events('job.completed').length
  const ids = await enqueue('noop', Array(JOBS).fill({ ms: 2000 }))
  await untilHeldBy(worker, JOBS)
  const swallowedBefore = proxy.swallowed()
  await pause(1000)
  proxy.swallowAnswers()
  const stored = () => value(`select count(*)::int from holdfast.outcome where job_id = any ($1)`, [ids])
  await until('some completions are stored', async () => (await stored()) > 0, { ms: 20_000 })
  const storedUnheard = await stored()
  proxy.cut()
  proxy.heal()
  await untilIdle()
  await until(
    'the worker hears of its completions',
    async () => worker.events('job.completed').length - completedBefore >= JOBS,
  )
  const lost = worker.events('job.lost').length
  const restarted = await value('select count(*)::int from holdfast.jobs where id = any ($1) and token > 1', [ids])
  check('answers to completions were lost', storedUnheard > 0 && proxy.swallowed() > swallowedBefore, storedUnheard)
  check('repeating them was accepted', lost === 0 && restarted === 0, { lost, restarted })
  return { 'completions stored unheard and accepted when repeated': storedUnheard }
}
