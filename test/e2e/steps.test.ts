// Workers killed between the steps of a handler.
import { expect, test } from 'vitest'
import { useFleet } from '../support/fleet.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const fleet = useFleet(bench)

test('a handler whose worker is killed after each of its three steps runs each step once', async () => {
  const deaths: unknown[] = []
  const [id = ''] = await fleet.enqueue(1, { type: 'steps', input: { deadly: true }, max_attempts: 20 })
  let worker = await fleet.startWorker()
  const isCompleted = async () => (await fleet.jobs([id]))[0]?.state === 'completed'

  while (!(await isCompleted())) {
    await until(async () => !worker.isAlive || (await isCompleted()))
    if (worker.isAlive) break
    deaths.push((await worker.ended).signal)
    worker = await fleet.startWorker()
  }

  expect(deaths).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL'])
  const [job] = await fleet.jobs([id])
  expect(job).toMatchObject({ attempts: 4, output: ['one by 1', 'two by 2', 'three by 3'] })
  expect(await bench.look('select name, token from step_log order by token')).toEqual([
    { name: 'one', token: '1' },
    { name: 'two', token: '2' },
    { name: 'three', token: '3' },
  ])
  expect((await bench.look(`select verdict from holdfast.attempt where job_id = $1`, [id])).length).toBe(3)
})

test('a job that sleeps outlives its worker, and the next one goes on where it was', async () => {
  const doomed = await fleet.startWorker()
  const [id = ''] = await fleet.enqueue(1, { type: 'steps', input: { restMs: 2_000 }, max_attempts: 20 })
  await until(async () => (await bench.look('select from holdfast.durable_step where job_id = $1', [id])).length >= 2)

  doomed.kill('SIGKILL')
  await doomed.ended
  await fleet.startWorker()

  await until(async () => (await fleet.jobs([id]))[0]?.state === 'completed')
  expect(await bench.look('select name from step_log order by token')).toEqual([
    { name: 'one' },
    { name: 'two' },
    { name: 'three' },
  ])
})
