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
