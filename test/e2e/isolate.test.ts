// Handlers in a thread or process of their own: what never returns is stopped, what takes too much fails alone.
import { expect, test } from 'vitest'
import { useFleet } from '../support/fleet.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const fleet = useFleet(bench)

const exists = (pid: unknown) => {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

test.each(['process', 'thread'])(
  'a busy loop in a %s is stopped at its timeout, and other jobs complete beside it',
  async (kind) => {
    const worker = await fleet.startWorker({ isolated: true })
    const [spin = ''] = await fleet.enqueue(1, { type: `spin_${kind}`, queue: 'isolated' })
    await until(async () => (await bench.look('select from started')).length === 1)
    const others = await fleet.enqueue(5, { type: 'noop' })
    await until(async () => (await fleet.jobs(others)).every(({ state }) => state === 'completed'))
    await until(async () => (await fleet.jobs([spin]))[0]?.state === 'failed')

    const [job] = await fleet.jobs([spin])
    expect(job).toMatchObject({ error: { code: 'TIMED_OUT' } })
    const [begun] = await bench.look('select pid from started')
    if (kind === 'process') await until(async () => !exists(begun?.pid))
    else expect(begun).toEqual({ pid: worker.pid })
    expect(worker.isAlive).toBe(true)
  },
)

test.each(['process', 'thread'])(
  'too much memory in a %s fails that job with the reason, and nothing else',
  async (kind) => {
    const worker = await fleet.startWorker({ isolated: true })
    const [hog = ''] = await fleet.enqueue(1, { type: `hog_${kind}`, queue: 'isolated' })
    await until(async () => (await fleet.jobs([hog]))[0]?.state === 'failed')
    const others = await fleet.enqueue(5, { type: 'noop' })
    await until(async () => (await fleet.jobs(others)).every(({ state }) => state === 'completed'))

    expect((await fleet.jobs([hog]))[0]).toMatchObject({
      error: { name: 'IsolateCrashed', message: expect.stringMatching(/at most 64 MB.* ended/) },
    })
    expect(worker.isAlive).toBe(true)
  },
)

test.each(['process', 'thread'])('a handler in a %s remembers its steps, sleeps and waits', async (kind) => {
  await fleet.startWorker({ isolated: true })
  const [id = ''] = await fleet.enqueue(1, { type: `steps_${kind}`, queue: 'isolated', max_attempts: 1 })
  const waits = () => bench.look(`select from holdfast.durable_step where job_id = $1 and kind = 'event'`, [id])
  await until(async () => (await waits()).length === 1)

  await bench.look(`select * from holdfast.emit_event('paid', '7')`)

  await until(async () => (await fleet.jobs([id]))[0]?.state === 'completed')
  expect((await fleet.jobs([id]))[0]?.output).toEqual({ first: '1', last: '3', paid: 7 })
})

test('the outcome of a thread that ends at once is heard', async () => {
  await fleet.startWorker({ isolated: true })
  const ids = await fleet.enqueue(20, { type: 'quick_thread', queue: 'isolated', max_attempts: 1 })
  await until(async () => (await fleet.jobs(ids)).every(({ finished_at }) => finished_at !== null))

  expect((await fleet.jobs(ids)).map(({ output }) => output)).toEqual(ids.map(() => 'done'))
})
