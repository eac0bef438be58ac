// `holdfast worker` as a deployment runs it: told to stop, it gives back what it cannot finish.
import { expect, test } from 'vitest'
import { useFleet } from '../support/fleet.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const fleet = useFleet(bench)

const allRunning = async (ids: readonly string[]) => (await fleet.jobs(ids)).every(({ state }) => state === 'running')

test('workers that are replaced one after the other consume no attempt', async () => {
  let [leaving, staying] = [await fleet.startCommand(), await fleet.startCommand()]
  const short = await fleet.enqueue(40, { type: 'noop', input: { ms: 100 } })
  const long = await fleet.enqueue(8, { type: 'noop', input: { ms: 4000 } })
  const codes: unknown[] = []
  const hasLong = async (worker: typeof leaving) =>
    (
      await bench.look('select from holdfast.lease where locked_by = $1 and job_id = any ($2)', [
        await worker.id(),
        long,
      ])
    ).length > 0
  await until(async () => (await hasLong(leaving)) || (await hasLong(staying)))
  // The first to leave has a job that it cannot finish.
  if (!(await hasLong(leaving))) [leaving, staying] = [staying, leaving]

  for (let round = 0; round < 3; round += 1) {
    leaving.kill('SIGTERM')
    codes.push((await leaving.ended).code)
    const next = await fleet.startCommand()
    leaving = staying
    staying = next
  }
  const all = [...short, ...long]
  await until(async () => (await fleet.jobs(all)).every(({ state }) => state === 'completed'))

  expect(codes).toEqual([0, 0, 0])
  expect(await fleet.jobs(all)).toEqual(all.map((id) => expect.objectContaining({ id, attempts: 1 })))
  expect((await fleet.jobs(long)).some(({ token }) => Number(token) > 1)).toBe(true)
  expect(await bench.look('select * from holdfast.attempt')).toEqual([])
  expect(fleet.complaints()).toBe('')
})

test('a second signal ends the process at once, without waiting for what runs', async () => {
  const worker = await fleet.startCommand({ CHAOS_GRACE: '25s' })
  const ids = await fleet.enqueue(1, { type: 'noop', input: { ms: 60_000 } })
  await until(() => allRunning(ids))
  const listens = async () =>
    (await bench.look(`select from pg_stat_activity where datname = current_database() and query ilike 'listen%'`))
      .length > 0
  await until(listens)

  worker.kill('SIGTERM')
  await until(async () => !(await listens()))
  worker.kill('SIGTERM')

  expect(await worker.ended).toEqual({ code: 1, signal: null })
  expect(await fleet.jobs(ids)).toMatchObject([{ state: 'running' }])
})

test('a handler that ignores its signal does not keep the process, and its job is given back', async () => {
  const worker = await fleet.startCommand({ CHAOS_GRACE: '100ms' })
  const ids = await fleet.enqueue(1, { type: 'stubborn', input: { ms: 60_000 } })
  await until(() => allRunning(ids))

  worker.kill('SIGTERM')

  expect(await worker.ended).toEqual({ code: 0, signal: null })
  expect(await fleet.jobs(ids)).toMatchObject([{ state: 'pending', attempts: 0 }])
})
