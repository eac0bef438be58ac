// Workers that are killed, stopped, or ended by their own jobs.
import { expect, test } from 'vitest'
import { useFleet } from '../support/fleet.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const fleet = useFleet(bench)

const heldBy = async (worker: { id(): Promise<string> }) =>
  (await bench.look('select job_id from holdfast.lease where locked_by = $1', [await worker.id()])).length

test('the jobs of a worker that was killed run elsewhere, and their effects take place once', async () => {
  const doomed = await fleet.startWorker()
  const holds = await fleet.enqueue(5, { type: 'hold', input: { ms: 60_000 } })
  const effects = await fleet.enqueue(5, { type: 'effect', input: { beforeMs: 4000 } })
  await until(async () => (await heldBy(doomed)) === 10)
  const other = await fleet.startWorker()

  doomed.kill('SIGKILL')
  expect(await doomed.ended).toMatchObject({ signal: 'SIGKILL' })

  await until(async () => (await bench.look('select from started where pid = $1', [other.pid])).length === 5)
  await until(async () => (await fleet.jobs(effects)).every(({ state }) => state === 'completed'))
  expect(other.events('job.reaped').length).toBeGreaterThan(0)
  expect(await fleet.jobs(holds)).toEqual(
    holds.map((id) => expect.objectContaining({ id, state: 'running', attempts: 2 })),
  )
  expect(await bench.look('select job_id from effect_log order by job_id')).toEqual(
    effects.map((job_id) => ({ job_id })),
  )
})

test('the jobs of a worker that was killed right after its start run elsewhere, told by its lock', async () => {
  const [id = ''] = await fleet.enqueue(1, { type: 'hold', input: { ms: 60_000 } })
  // Leases so long that nothing but the death tells.
  const doomed = await fleet.startWorker({ lease: '1h' })
  await until(async () => (await heldBy(doomed)) === 1)

  doomed.kill('SIGKILL')
  expect(await doomed.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(await bench.look('select has_lock from holdfast.worker')).toEqual([{ has_lock: true }])
  const other = await fleet.startWorker({ lease: '1h' })

  await until(async () => (await bench.look('select from started where pid = $1', [other.pid])).length === 1)
  expect(other.events('job.reaped')).toHaveLength(1)
  expect(await fleet.jobs([id])).toEqual([expect.objectContaining({ state: 'running', attempts: 2 })])
})

test('every outcome of a worker that was stopped for longer than its leases is refused', async () => {
  const settings = { lease: '3s', print: ['job.completed'] }
  const sleeper = await fleet.startWorker(settings)
  const ids = [
    ...(await fleet.enqueue(5, { type: 'noop', input: { ms: 4000 } })),
    ...(await fleet.enqueue(5, { type: 'effect', input: { beforeMs: 4000 } })),
  ]
  await until(async () => (await heldBy(sleeper)) === 10)

  sleeper.kill('SIGSTOP')
  const other = await fleet.startWorker(settings)
  await until(async () => (await fleet.jobs(ids)).every(({ state }) => state === 'completed'))
  sleeper.kill('SIGCONT')
  await sleeper.hears('job.lost', 10)

  expect(sleeper.events('job.completed')).toEqual([])
  const worker = await other.id()
  expect(await fleet.jobs(ids)).toEqual(ids.map((id) => expect.objectContaining({ id, locked_by: worker })))
  expect((await bench.look('select distinct job_id from effect_log')).length).toBe(5)
  expect((await bench.look('select from effect_log')).length).toBe(5)
  expect(fleet.complaints()).toBe('')
})

test('a job that ends its worker fails at the third death, and those beside it complete', async () => {
  const deaths: unknown[] = []
  const workers = [await fleet.startWorker()]
  const bystanders = await fleet.enqueue(4, { type: 'noop', input: { ms: 2500 } })
  const [poison = ''] = await fleet.enqueue(1, { type: 'poison', input: { by: 'SIGKILL' } })
  workers.push(await fleet.startWorker())
  const hasFailed = async () => (await fleet.jobs([poison]))[0]?.state === 'failed'

  while (!(await hasFailed())) {
    await until(async () => workers.some(({ isAlive }) => !isAlive) || (await hasFailed()))
    for (const [place, worker] of workers.entries()) {
      if (worker.isAlive) continue
      deaths.push((await worker.ended).signal)
      workers[place] = await fleet.startWorker()
    }
  }
  await until(async () => (await fleet.jobs(bystanders)).every(({ state }) => state === 'completed'))

  expect(deaths).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL'])
  expect((await fleet.jobs([poison]))[0]).toMatchObject({
    attempts: 3,
    error: {
      name: 'WorkerDied',
      worker: expect.any(String),
      rss_bytes: expect.any(Number),
      last_logs: expect.arrayContaining(['about to end by SIGKILL']),
    },
  })
  const lost = await bench.look('select from holdfast.attempt where job_id = any ($1)', [bystanders])
  expect(lost.length).toBeGreaterThan(0)
})
