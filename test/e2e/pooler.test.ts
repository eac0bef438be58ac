// A fleet whose every connection goes through PgBouncer in transaction mode: deaths of workers and of the pooler itself.
import { expect, inject, onTestFinished, test } from 'vitest'
import { useFleet } from '../support/fleet.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { findPgbouncer, startPgbouncer } from '../support/pgbouncer.js'

const bench = useHoldfast()
const fleet = useFleet(bench)
const hasPgbouncer = findPgbouncer() !== undefined
if (!hasPgbouncer) console.log('pgbouncer is not installed: a fleet behind it is not tried')

async function pooled() {
  const login = { user: inject('appUser'), password: inject('appPassword') }
  const pooler = await startPgbouncer(inject('adminUrl'), [login], 20)
  onTestFinished(() => pooler.close())
  const url = new URL(bench.database.url)
  url.host = new URL(pooler.url).host
  return { url: url.href, pooler }
}

const completed = async (ids: readonly string[]) => (await fleet.jobs(ids)).every(({ state }) => state === 'completed')

test.skipIf(!hasPgbouncer)(
  'the jobs of a worker that was killed run elsewhere, though no lock told of its death',
  async () => {
    const { url } = await pooled()
    const doomed = await fleet.startWorker({ url })
    const ids = await fleet.enqueue(5, { type: 'effect', input: { beforeMs: 3000 } })
    const worker = await doomed.id()
    await until(
      async () => (await bench.look('select from holdfast.lease where locked_by = $1', [worker])).length === 5,
    )
    doomed.kill('SIGKILL')
    await doomed.ended
    expect(await bench.look('select has_lock from holdfast.worker')).toEqual([{ has_lock: false }])

    const other = await fleet.startWorker({ url })
    await until(() => completed(ids))

    expect(other.events('job.reaped').length).toBeGreaterThan(0)
    expect(await bench.look('select job_id from effect_log order by job_id')).toEqual(ids.map((job_id) => ({ job_id })))
    expect(
      await bench.look(`select from pg_locks where locktype = 'advisory' and database =
                             (select oid from pg_database where datname = current_database())`),
    ).toEqual([])
  },
)

test.skipIf(!hasPgbouncer)('a pooler that is restarted under load loses no job and doubles no effect', async () => {
  const { url, pooler } = await pooled()
  await fleet.startWorker({ url })
  await fleet.startWorker({ url })
  const ids = await fleet.enqueue(150, { type: 'effect', input: { beforeMs: 200 } })
  await until(async () => (await bench.look('select from effect_log limit 5')).length === 5)

  await pooler.restart()
  const cut = (await bench.look('select from holdfast.outcome')).length
  await until(() => completed(ids))

  expect(cut).toBeLessThan(150)
  expect(await bench.look('select job_id from effect_log order by job_id::bigint')).toEqual(
    ids.map((job_id) => ({ job_id })),
  )
})
