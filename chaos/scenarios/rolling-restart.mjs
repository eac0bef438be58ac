import { startLoad } from '../load.mjs'
import { pause } from '../waiting.mjs'

export const name = 'rolling-restart'
export const what = 'two `holdfast worker` processes are stopped and replaced, ten times, under load'

const RESTARTS = 10
// The long ones outlive the grace of one second: they are aborted and released.
const MIX = [
  { type: 'noop', input: { ms: 50 }, share: 0.9 },
  { type: 'noop', input: { ms: 3000 }, share: 0.05 },
  { type: 'effect', input: { beforeMs: 20 }, share: 0.05 },
]

export async function run(context) {
  const { fleet, ask, value, enqueue, untilIdle, untilHeldBy, check } = context
  const running = [await fleet.startCommand(), await fleet.startCommand()]
  const load = startLoad(context, { mix: MIX, backlog: 200 })
  const codes = []
  const stopMs = []
  for (let round = 0; round < RESTARTS; round += 1) {
    await pause(1000)
    const leaving = running.shift()
    const toldAt = performance.now()
    leaving.kill('SIGTERM')
    const { code, signal } = await leaving.ended
    stopMs.push(Math.round(performance.now() - toldAt))
    codes.push(code ?? signal)
    running.push(await fleet.startCommand())
  }
  await load.stop()
  await untilIdle()
  const released = await value('select count(*)::int from holdfast.outcome where token > attempts')
  const attempts = await value('select count(*)::int from holdfast.attempt')
  const counted = await value('select count(*)::int from holdfast.outcome where attempts <> 1')
  check(
    'every process ended with 0',
    codes.every((code) => code === 0),
    codes,
  )
  check('running jobs were given back', released > 0, released)
  check('no attempt was consumed', attempts === 0 && counted === 0, { attempts, counted })
  check('nothing was said on stderr', fleet.complaints() === '', fleet.complaints())

  const second = await secondSignal({ fleet, enqueue, untilHeldBy, running })
  check('a second signal ends it at once', second.code === 1 && second.ms < 2000, second)
  const stubborn = await unheeded({ fleet, enqueue, untilHeldBy })
  check(
    'a handler that ignores its signal does not keep the process',
    stubborn.code === 0 && stubborn.ms < 15_000,
    stubborn,
  )
  const last = await fleet.startCommand()
  await ask(`select holdfast.cancel_job(l.job_id) from holdfast.lease as l where l.type = 'stubborn'`)
  await ask(`select holdfast.cancel_job(r.job_id) from holdfast.ready as r where r.type = 'stubborn'`)
  await untilIdle()
  last.kill('SIGTERM')
  return {
    'jobs acknowledged': context.acknowledged.size,
    restarts: RESTARTS,
    'time to stop, ms': stopMs.join(' '),
    'jobs given back while running': released,
    'attempts consumed': attempts + counted,
    'from the second signal to the end': `${second.ms} ms`,
    'with a handler that ignores its signal': `${stubborn.ms} ms`,
  }
}

async function secondSignal({ fleet, enqueue, untilHeldBy, running }) {
  await endAll(running)
  const worker = await fleet.startCommand({ CHAOS_GRACE: '25s' })
  await enqueue('noop', [{ ms: 20_000 }])
  await untilHeldBy(worker, 1)
  worker.kill('SIGTERM')
  await pause(500)
  const secondAt = performance.now()
  worker.kill('SIGTERM')
  const { code } = await worker.ended
  return { code, ms: Math.round(performance.now() - secondAt) }
}

async function unheeded({ fleet, enqueue, untilHeldBy }) {
  const worker = await fleet.startCommand()
  await enqueue('stubborn', [{ ms: 45_000 }], { priority: 0 })
  await untilHeldBy(worker, 2).catch(() => {})
  const toldAt = performance.now()
  worker.kill('SIGTERM')
  const { code } = await worker.ended
  return { code, ms: Math.round(performance.now() - toldAt) }
}

async function endAll(workers) {
  for (const worker of workers) worker.kill('SIGTERM')
  await Promise.all(workers.map(({ ended }) => ended))
}
