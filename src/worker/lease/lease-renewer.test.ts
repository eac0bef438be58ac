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

function leaseRenewer(answers: Answers = {}, clock?: RenewalClock) {
  const calls: string[] = []
  const held = new HeldLeases()
  const renewer = new LeaseRenewer(
    held,
    {
      renew: (leases) => {
        const ids = leases.map(({ id }) => id)
        calls.push(`renew ${ids}`)
        return answers.renew?.(ids) ?? Promise.resolve(ids.map(() => true))
      },
      heartbeat: answers.heartbeat ?? (async () => undefined),
    },
    {
      lost: (jobs) => void calls.push(`lost ${jobs.map(({ id }) => id)}`),
      overdue: (jobs) => void calls.push(`overdue ${jobs.map(({ id }) => id)}`),
      healthy: (isHealthy) => void calls.push(isHealthy ? 'healthy' : 'not healthy'),
      silence: (inMs) => void calls.push(`silence in ${inMs}`),
      unanswered: () => void calls.push('unanswered'),
      fault: (doing) => void calls.push(`fault ${doing}`),
    },
    clock,
  )
  const hold = (jobs: readonly ClaimedJob[], claimedAt: number) => {
    held.add(jobs, claimedAt)
    renewer.leasesAdded()
  }
  return { renewer, calls, held, hold }
}

/** Long enough ago for a check to be due. */
const aWhileAgo = () => monotonicMs() - 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('held leases are renewed, removed ones are not', async () => {
  const { renewer, calls, held, hold } = leaseRenewer()
  hold([job('1'), job('2')], aWhileAgo())
  held.remove(job('1'))
  await renewer.runOnce()

  expect(calls).toEqual(['renew 2'])
})

test('the lease of a job that has just been claimed is not checked yet', async () => {
  const { renewer, calls, hold } = leaseRenewer()
  hold([job('1')], monotonicMs())
  await renewer.runOnce()

  expect(calls).toEqual([])
})

test('a short lease makes the ticks shorter, so that it is renewed in time', async () => {
  const { renewer, calls, hold } = leaseRenewer()
  renewer.start()
  hold([job('1', 1000)], monotonicMs())
  await vi.advanceTimersByTimeAsync(3000)

  expect(calls.length).toBeGreaterThan(3)
  expect(new Set(calls)).toEqual(new Set(['renew 1']))
  await renewer.stop()
})

test('a lease that the database does not know is reported as lost, once', async () => {
  const { renewer, calls, hold } = leaseRenewer({ renew: async (ids) => ids.map((id) => id !== '2') })
  hold([job('1'), job('2')], aWhileAgo())
  await renewer.runOnce()
  vi.advanceTimersByTime(1000)
  await renewer.runOnce()

  expect(calls).toEqual(['renew 1,2', 'lost 2', 'renew 1'])
})

test('a job that ends while it is renewed is not reported as lost', async () => {
  const ended = job('1')
  const { renewer, calls, held, hold } = leaseRenewer({
    async renew() {
      held.remove(ended)
      return [false]
    },
  })
  hold([ended], aWhileAgo())
  await renewer.runOnce()

  expect(calls).toEqual(['renew 1'])
})

test('when no renewal succeeds, leases are given up at 0.8 of their length and the worker is not healthy', async () => {
  const { renewer, calls, hold } = leaseRenewer({ heartbeat: () => Promise.reject(new Error('no connection')) })
  hold([job('short', 5000), job('long', 60_000)], monotonicMs())
  renewer.start()
  await vi.advanceTimersByTimeAsync(4000)
  expect(calls.filter((call) => call.startsWith('overdue'))).toEqual([])
  await vi.advanceTimersByTimeAsync(1000)

  expect(calls.filter((call) => !/^(fault|unanswered)/.test(call))).toEqual(['overdue short', 'not healthy'])
  await renewer.stop()
})

test('it gives up in time even while a renewal hangs', async () => {
  let answer = () => {}
  const { renewer, calls, hold } = leaseRenewer({
    renew: (ids) =>
      new Promise((resolve) => {
        answer = () => resolve(ids.map(() => true))
      }),
  })
  hold([job('1')], monotonicMs())
  renewer.start()
  await vi.advanceTimersByTimeAsync(5000)

  expect(calls).toEqual(['renew 1', 'overdue 1', 'not healthy'])
  answer()
  await renewer.stop()
})

test('the first renewal that succeeds makes it healthy again', async () => {
  let isDown = true
  const { renewer, calls, hold } = leaseRenewer({
    heartbeat: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(undefined)),
  })
  hold([job('1', 1000)], monotonicMs())
  renewer.start()
  await vi.advanceTimersByTimeAsync(2000)
  isDown = false
  await vi.advanceTimersByTimeAsync(1000)

  expect(calls.filter((call) => !/^(fault|unanswered)/.test(call))).toEqual(['overdue 1', 'not healthy', 'healthy'])
  await renewer.stop()
})

test('a worker that is late by half a heartbeat is reported, one that was heard in time is not', async () => {
  const answers = [1100, 501, 500, -300]
  const { renewer, calls } = leaseRenewer({ heartbeat: async () => answers.shift() })
  for (let heartbeats = 0; heartbeats < 4; heartbeats += 1) await renewer.runOnce()

  expect(calls).toEqual(['silence in 500', 'silence in -300'])
})

test('a load goes out with one heartbeat, and with the next one if that failed', async () => {
  const sent: unknown[] = []
  const { renewer, calls } = leaseRenewer({
    heartbeat: async (load) => {
      if (sent.push(load) === 2) throw new Error('no connection')
      return undefined
    },
  })
  const load = { isAlone: true, loopDelayMs: 3 }
  await renewer.runOnce()
  renewer.report(load)
  for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) await renewer.runOnce()

  expect(sent).toEqual([undefined, load, load, undefined])
  expect(calls).toEqual(['unanswered', 'fault renewing 0 leases'])
})

test('leases that the watchdog has renewed while this thread was blocked are neither overdue nor due', async () => {
  const clock = new RenewalClock()
  const { renewer, calls, hold } = leaseRenewer({ heartbeat: () => Promise.reject(new Error('not asked')) }, clock)
  hold([job('1')], monotonicMs() - 60_000)
  renewer.start()
  clock.watchdogRenewed(monotonicMs() + 900)
  await vi.advanceTimersByTimeAsync(1000)
  expect(calls.filter((call) => call.startsWith('fault'))).toEqual(['fault renewing 0 leases'])
  expect(calls).not.toContain('overdue 1')

  await vi.advanceTimersByTimeAsync(5000)
  expect(calls).toContain('overdue 1')
  await renewer.stop()
})

test('the clock shows each round that succeeded, and no other', async () => {
  const clock = new RenewalClock()
  let isDown = false
  const { renewer } = leaseRenewer(
    { heartbeat: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(undefined)) },
    clock,
  )
  await renewer.runOnce()
  const since = (ms: number) => clock.isRenewerLate(monotonicMs() + ms)
  expect([since(2900), since(3100)]).toEqual([false, true])

  isDown = true
  vi.advanceTimersByTime(2000)
  await renewer.runOnce()
  expect([since(900), since(1100)]).toEqual([false, true])
})

test('the clock shows the shortest lease at once', () => {
  const clock = new RenewalClock()
  const { hold } = leaseRenewer({}, clock)
  hold([job('1', 30_000)], monotonicMs())
  expect(clock.hasShortLease).toBe(false)

  hold([job('2', 9000)], monotonicMs())
  expect(clock.hasShortLease).toBe(true)
})
