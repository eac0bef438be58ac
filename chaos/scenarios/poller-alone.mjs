import { spread } from '../statistics.mjs'
import { pause } from '../waiting.mjs'

export const name = 'poller-alone'
export const what = 'workers that never LISTEN find what another process enqueues'

export async function run({ fleet, ask, value, enqueue, untilIdle, appRole, check }) {
  const statistics = {}
  for (const options of [{ listen: false }, { listen: false, poll: '200ms' }]) {
    const title = options.poll ?? 'default poll'
    const workers = await Promise.all([1, 2].map(() => fleet.startWorker({ options })))
    const ids = []
    for (let round = 0; round < 10; round += 1) {
      ids.push(...(await enqueue('hold', Array(10).fill({ ms: 0 }))))
      await pause(300 + Math.random() * 300)
    }
    const listening = await value(
      `select count(*)::int from pg_stat_activity where usename = $1 and query ilike 'listen %'`,
      [appRole],
    )
    await untilIdle()
    const rows = await ask(
      `select extract(epoch from s.at - j.created_at)::float8 * 1000 as ms
         from started as s join holdfast.job as j on j.id = s.job_id where j.id = any ($1)`,
      [ids],
    )
    check(`${title}: no session listened`, listening === 0, listening)
    check(`${title}: every job ran, once`, rows.length === ids.length, rows.length)
    Object.assign(
      statistics,
      spread(
        `${title}: from enqueue to start`,
        rows.map(({ ms }) => ms),
      ),
    )
    for (const worker of workers) worker.kill('SIGTERM')
    await Promise.all(workers.map(({ ended }) => ended))
  }
  return statistics
}
