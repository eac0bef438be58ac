import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WorkerLoad } from '../store/workers.js'
import { LeaseKeeper, monotonicMs, type TimedLease } from './lease-keeper.js'

const lease = (id: string, leaseMs = 5000): TimedLease => ({ id, token: '1', leaseId: `lease-of-${id}`, leaseMs })

interface Answers {
  renew?: (ids: string[]) => Promise<boolean[]>
  beat?: (load: WorkerLoad | undefined) => Promise<number | undefined>
}

function keeper(answers: Answers = {}) {
  const told: string[] = []
  const kept = new LeaseKeeper(
    {
      renew: (leases) => {
        const ids = leases.map(({ id }) => id)
        told.push(`renew ${ids}`)
        return answers.renew?.(ids) ?? Promise.resolve(ids.map(() => true))
      },
      beat: answers.beat ?? (async () => undefined),
    },
    {
      lost: (leases) => void told.push(`lost ${leases.map(({ id }) => id)}`),
      overdue: (leases) => void told.push(`overdue ${leases === 'all' ? 'all' : leases.map(({ id }) => id)}`),
      healthy: (isHealthy) => void told.push(isHealthy ? 'healthy' : 'not healthy'),
      silence: (inMs) => void told.push(`silence in ${inMs}`),
      unanswered: () => void told.push('unanswered'),
      fault: (doing) => void told.push(`fault ${doing}`),
    },
  )
  return { kept, told }
}

/** Long enough for a look to be due. */
const aWhileAgo = () => monotonicMs() - 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('what is held is renewed, what was dropped is not', async () => {
  const { kept, told } = keeper()
  kept.hold([lease('1'), lease('2')], aWhileAgo())
  kept.drop(lease('1'))
  await kept.runOnce()

  expect(told).toEqual(['renew 2'])
})

test('dropping a lease leaves a later lease on the same job alone', async () => {
  const { kept, told } = keeper()
  kept.hold([lease('1')], aWhileAgo())
  kept.hold([{ ...lease('1'), leaseId: 'a later one' }], aWhileAgo())
  kept.drop(lease('1'))
  await kept.runOnce()

  expect(told).toEqual(['renew 1'])
})

test('a job that has just been claimed is not looked at yet', async () => {
  const { kept, told } = keeper()
  kept.hold([lease('1')], monotonicMs())
  await kept.runOnce()

  expect(told).toEqual([])
})

test('a short lease makes the ticks shorter, so that it is renewed in time', async () => {
  const { kept, told } = keeper()
  kept.start()
  kept.hold([lease('1', 1000)], monotonicMs())
  await vi.advanceTimersByTimeAsync(3000)

  expect(told.length).toBeGreaterThan(3)
  expect(new Set(told)).toEqual(new Set(['renew 1']))
  await kept.stop()
})

test('a lease that the database does not know is told as lost, once', async () => {
  const { kept, told } = keeper({ renew: async (ids) => ids.map((id) => id !== '2') })
  kept.hold([lease('1'), lease('2')], aWhileAgo())
  await kept.runOnce()
  vi.advanceTimersByTime(1000)
  await kept.runOnce()

  expect(told).toEqual(['renew 1,2', 'lost 2', 'renew 1'])
})

test('when no renewal gets through, leases are given up at 0.8 of their length and the worker is not healthy', async () => {
  const { kept, told } = keeper({ beat: () => Promise.reject(new Error('no connection')) })
  kept.hold([lease('short', 5000), lease('long', 60_000)], monotonicMs())
  kept.start()
  await vi.advanceTimersByTimeAsync(4000)
  expect(told.filter((fact) => fact.startsWith('overdue'))).toEqual([])
  await vi.advanceTimersByTimeAsync(1000)

  expect(told.filter((fact) => !/^(fault|unanswered)/.test(fact))).toEqual(['overdue short', 'not healthy'])
  await kept.stop()
})

test('it gives up in time even while a renewal hangs', async () => {
  let answer = () => {}
  const { kept, told } = keeper({
    renew: (ids) =>
      new Promise((resolve) => {
        answer = () => resolve(ids.map(() => true))
      }),
  })
  kept.hold([lease('1')], monotonicMs())
  kept.start()
  await vi.advanceTimersByTimeAsync(5000)

  expect(told).toEqual(['renew 1', 'overdue 1', 'not healthy'])
  answer()
  await kept.stop()
})

test('the first renewal that gets through makes it healthy again', async () => {
  let isDown = true
  const { kept, told } = keeper({
    beat: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(undefined)),
  })
  kept.hold([lease('1', 1000)], monotonicMs())
  kept.start()
  await vi.advanceTimersByTimeAsync(2000)
  isDown = false
  await vi.advanceTimersByTimeAsync(1000)

  expect(told.filter((fact) => !/^(fault|unanswered)/.test(fact))).toEqual(['overdue 1', 'not healthy', 'healthy'])
  await kept.stop()
})

test('a worker that is late by half a beat is told of, one that was heard in time is not', async () => {
  const answers = [1100, 501, 500, -300]
  const { kept, told } = keeper({ beat: async () => answers.shift() })
  for (let beats = 0; beats < 4; beats += 1) await kept.runOnce()

  expect(told).toEqual(['silence in 500', 'silence in -300'])
})

test('a load goes out with one beat, and with the next one if that did not get through', async () => {
  const sent: unknown[] = []
  const { kept, told } = keeper({
    beat: async (load) => {
      if (sent.push(load) === 2) throw new Error('no connection')
      return undefined
    },
  })
  const load = { isAlone: true, loopDelayMs: 3 }
  await kept.runOnce()
  kept.report(load)
  for (let beats = 0; beats < 3; beats += 1) await kept.runOnce()

  expect(sent).toEqual([undefined, load, load, undefined])
  expect(told).toEqual(['unanswered', 'fault renewing 0 leases'])
})
