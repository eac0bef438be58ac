export const name = 'blocked-loop'
export const what =
  'a handler blocks the event loop for much longer than its lease, with and without the renewal watchdog'

const NEIGHBOURS = 10
// Time for the second worker to start and for the neighbours to be in the middle of their wait.
const BEFORE_MS = 3000

export async function run(context) {
  const { untilIdle, isQuick, check, value } = context
  const blockMs = isQuick ? 8000 : 30_000
  const lease = isQuick ? '3s' : '5s'

  const kept = await blockOne(context, { lease, blockMs, options: {} })
  await untilIdle()
  const restarted = await value('select count(*)::int from holdfast.jobs where attempts > 1')
  check('with the watchdog nothing was reaped', kept.reaped() === 0 && restarted === 0, kept.reaped())
  check('with the watchdog nothing was refused', kept.refused() === 0, kept.refused())
  await kept.end()

  const lost = await blockOne(context, { lease, blockMs, options: { watchdog: false } })
  await untilIdle()
  const stale = await value(
    `select count(*)::int from holdfast.outcome as o join holdfast.attempt as a using (job_id) where o.token <= a.token`,
  )
  check('without the watchdog the leases were reaped', lost.reaped() > 0, lost.reaped())
  check('without the watchdog what the blocked worker wrote late was refused', lost.refused() > 0, lost.refused())
  check('no stale outcome was accepted', stale === 0, stale)
  return {
    'blocked for': `${blockMs} ms`,
    lease,
    'reaped with the watchdog': kept.reaped(),
    'reaped without it': lost.reaped(),
    'stale outcomes accepted': stale,
  }
}

/** One worker takes a job that blocks, and its neighbours; another is there to reap. */
async function blockOne({ fleet, enqueue, untilHeldBy }, { lease, blockMs, options }) {
  const blocked = await fleet.startWorker({ lease, options })
  await enqueue('effect', Array(NEIGHBOURS).fill({ beforeMs: BEFORE_MS + 500 }))
  await enqueue('block', [{ afterMs: BEFORE_MS, ms: blockMs }])
  await untilHeldBy(blocked, NEIGHBOURS + 1)
  const reaper = await fleet.startWorker({ lease })
  const both = [blocked, reaper]
  return {
    reaped: () => both.flatMap((worker) => worker.events('job.reaped')).flatMap(({ jobs }) => jobs).length,
    refused: () => blocked.events('job.lost').length,
    async end() {
      for (const worker of both) worker.kill('SIGTERM')
      await Promise.all(both.map(({ ended }) => ended))
    },
  }
}
