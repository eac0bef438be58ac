import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import type { WorkerLoad } from '../../store/jobs/workers.js'
import { monotonicMs } from '../monotonic.js'
import { HeldLeases } from './held-leases.js'
import { LeaseRenewer } from './lease-renewer.js'
import { RenewalClock } from './renewal-clock.js'

const job = (id: string, leaseMs = 5000) => ({ id, token: '1', leaseId: `lease-of-${id}`, leaseMs }) as ClaimedJob

interface Answers {
  renew?: (ids: string[]) => Promise<boolean[]>
  heartbeat?: (load: WorkerLoad | undefined) => Promise<number | undefined>
}

function keeper(answers: Answers = {}, watch?: RenewalClock) {
  const told: string[] = []
  const held = new HeldLeases()
  const kept = new LeaseRenewer(
    held,
    {
      renew: (leases) => {
        const ids = leases.map(({ id }) => id)
        told.push(`renew ${ids}`)
        return answers.renew?.(ids) ?? Promise.resolve(ids.map(() => true))
      },
      heartbeat: answers.heartbeat ?? (async () => undefined),
    },
    {
      lost: (jobs) => void told.push(`lost ${jobs.map(({ id }) => id)}`),
      overdue: (jobs) => void told.push(`overdue ${jobs.map(({ id }) => id)}`),
      healthy: (isHealthy) => void told.push(isHealthy ? 'healthy' : 'not healthy'),
      silence: (inMs) => void told.push(`silence in ${inMs}`),
      unanswered: () => void told.push('unanswered'),
      fault: (doing) => void told.push(`fault ${doing}`),
    },
    watch,
  )
  const hold = (jobs: readonly ClaimedJob[], claimedAt: number) => {
    for (const each of jobs) held.add(each, claimedAt)
    kept.look()
  }
  return { kept, told, held, hold }
}

/** Long enough for a look to be due. */
const aWhileAgo = () => monotonicMs() - 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('what is held is renewed, what has ended is not', async () => {
  const { kept, told, held, hold } = keeper()
  hold([job('1'), job('2')], aWhileAgo())
  held.remove(job('1'))
  await kept.runOnce()

  expect(told).toEqual(['renew 2'])
})

test('a job that has just been claimed is not looked at yet', async () => {
  const { kept, told, hold } = keeper()
  hold([job('1')], monotonicMs())
  await kept.runOnce()

  expect(told).toEqual([])
})

test('a short lease makes the ticks shorter, so that it is renewed in time', async () => {
  const { kept, told, hold } = keeper()
  kept.start()
  hold([job('1', 1000)], monotonicMs())
  await vi.advanceTimersByTimeAsync(3000)

  expect(told.length).toBeGreaterThan(3)
  expect(new Set(told)).toEqual(new Set(['renew 1']))
  await kept.stop()
})

test('a lease that the database does not know is told as lost, once', async () => {
  const { kept, told, hold } = keeper({ renew: async (ids) => ids.map((id) => id !== '2') })
  hold([job('1'), job('2')], aWhileAgo())
  await kept.runOnce()
  vi.advanceTimersByTime(1000)
  await kept.runOnce()

  expect(told).toEqual(['renew 1,2', 'lost 2', 'renew 1'])
})

test('a job that ends while it is renewed is not told as lost', async () => {
  const ended = job('1')
  const { kept, told, held, hold } = keeper({
    async renew() {
      held.remove(ended)
      return [false]
    },
  })
  hold([ended], aWhileAgo())
  await kept.runOnce()

  expect(told).toEqual(['renew 1'])
})

test('when no renewal gets through, leases are given up at 0.8 of their length and the worker is not healthy', async () => {
  const { kept, told, hold } = keeper({ heartbeat: () => Promise.reject(new Error('no connection')) })
  hold([job('short', 5000), job('long', 60_000)], monotonicMs())
  kept.start()
  await vi.advanceTimersByTimeAsync(4000)
  expect(told.filter((fact) => fact.startsWith('overdue'))).toEqual([])
  await vi.advanceTimersByTimeAsync(1000)

  expect(told.filter((fact) => !/^(fault|unanswered)/.test(fact))).toEqual(['overdue short', 'not healthy'])
  await kept.stop()
})

test('it gives up in time even while a renewal hangs', async () => {
  let answer = () => {}
  const { kept, told, hold } = keeper({
    renew: (ids) =>
      new Promise((resolve) => {
        answer = () => resolve(ids.map(() => true))
      }),
  })
  hold([job('1')], monotonicMs())
  kept.start()
  await vi.advanceTimersByTimeAsync(5000)

  expect(told).toEqual(['renew 1', 'overdue 1', 'not healthy'])
  answer()
  await kept.stop()
})

test('the first renewal that gets through makes it healthy again', async () => {
  let isDown = true
  const { kept, told, hold } = keeper({
    heartbeat: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(undefined)),
  })
  hold([job('1', 1000)], monotonicMs())
  kept.start()
  await vi.advanceTimersByTimeAsync(2000)
  isDown = false
  await vi.advanceTimersByTimeAsync(1000)

  expect(told.filter((fact) => !/^(fault|unanswered)/.test(fact))).toEqual(['overdue 1', 'not healthy', 'healthy'])
  await kept.stop()
})

test('a worker that is late by half a heartbeat is told of, one that was heard in time is not', async () => {
  const answers = [1100, 501, 500, -300]
  const { kept, told } = keeper({ heartbeat: async () => answers.shift() })
  for (let heartbeats = 0; heartbeats < 4; heartbeats += 1) await kept.runOnce()

  expect(told).toEqual(['silence in 500', 'silence in -300'])
})

test('a load goes out with one heartbeat, and with the next one if that did not get through', async () => {
  const sent: unknown[] = []
  const { kept, told } = keeper({
    heartbeat: async (load) => {
      if (sent.push(load) === 2) throw new Error('no connection')
      return undefined
    },
  })
  const load = { isAlone: true, loopDelayMs: 3 }
  await kept.runOnce()
  kept.report(load)
  for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) await kept.runOnce()

  expect(sent).toEqual([undefined, load, load, undefined])
  expect(told).toEqual(['unanswered', 'fault renewing 0 leases'])
})

test('what somebody else has renewed while this thread was blocked is neither overdue nor due', async () => {
  const watch = new RenewalClock()
  const { kept, told, hold } = keeper({ heartbeat: () => Promise.reject(new Error('not asked')) }, watch)
  hold([job('1')], monotonicMs() - 60_000)
  kept.start()
  watch.watchdogRenewed(monotonicMs() + 900)
  await vi.advanceTimersByTimeAsync(1000)
  expect(told.filter((fact) => fact.startsWith('fault'))).toEqual(['fault renewing 0 leases'])
  expect(told).not.toContain('overdue 1')

  await vi.advanceTimersByTimeAsync(5000)
  expect(told).toContain('overdue 1')
  await kept.stop()
})

test('the watch sees each round that got through, and no other', async () => {
  const watch = new RenewalClock()
  let isDown = false
  const { kept } = keeper(
    { heartbeat: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(undefined)) },
    watch,
  )
  await kept.runOnce()
  const since = (ms: number) => watch.isLate(monotonicMs() + ms)
  expect([since(2900), since(3100)]).toEqual([false, true])

  isDown = true
  vi.advanceTimersByTime(2000)
  await kept.runOnce()
  expect([since(900), since(1100)]).toEqual([false, true])
})

test('the watch learns of the shortest lease at once', () => {
  const watch = new RenewalClock()
  const { hold } = keeper({}, watch)
  hold([job('1', 30_000)], monotonicMs())
  expect(watch.isShort).toBe(false)

  hold([job('2', 9000)], monotonicMs())
  expect(watch.isShort).toBe(true)
})
