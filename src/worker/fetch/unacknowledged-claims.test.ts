import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HoldfastError } from '../../domain/error/errors.js'
import { UnacknowledgedClaims } from './unacknowledged-claims.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const unreachable = () => new HoldfastError('CONNECTION_FAILED', 'read ECONNRESET')

/** Claims whose polls are answered by `answers`, the last of them repeatedly. */
function claims(...answers: (Error | 'nothing' | 'all')[]) {
  const polls: { at: number; leaseIds: readonly string[] }[] = []
  const faults: string[] = []
  const released = vi.fn()
  const subject = new UnacknowledgedClaims({
    async release(leaseIds) {
      polls.push({ at: performance.now() - startedAt, leaseIds })
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer instanceof Error) throw answer
      return answer === 'all' ? leaseIds : []
    },
    onReleased: released,
    onFault: (doing) => faults.push(doing),
  })
  const startedAt = performance.now()
  const lose = async () => {
    let id = ''
    const lost = subject.claim((leaseId) => {
      id = leaseId
      return Promise.reject(unreachable())
    })
    await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
    return id
  }
  return { subject, polls, faults, released, lose }
}

test('a claim that is answered or refused is not polled for, and each has an id of its own', async () => {
  const { subject, polls } = claims('all')

  const ids = [await subject.claim(async (leaseId) => leaseId), await subject.claim(async (leaseId) => leaseId)]
  await expect(subject.claim(() => Promise.reject(new HoldfastError('INVALID_OPTION', 'no')))).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(10_000)

  expect(new Set(ids).size).toBe(2)
  expect(polls).toEqual([])
})

test('a claim that is found is released at once, reported, and not polled for again', async () => {
  const { polls, released, lose } = claims('all')

  const id = await lose()
  await vi.advanceTimersByTimeAsync(300_000)

  expect(polls).toEqual([{ at: 0, leaseIds: [id] }])
  expect(released).toHaveBeenCalledOnce()
})

test('a claim that is not found is polled for again, less and less often, for two minutes', async () => {
  const { polls, released, lose } = claims('nothing')

  await lose()
  await vi.advanceTimersByTimeAsync(300_000)

  expect(polls.slice(0, 5).map(({ at }) => at)).toEqual([0, 50, 150, 350, 750])
  expect(polls.at(-1)?.at).toBeGreaterThanOrEqual(120_000)
  expect(polls.at(-1)?.at).toBeLessThan(126_000)
  expect(polls.length).toBeLessThan(40)
  expect(released).not.toHaveBeenCalled()
})

test('while the database does not answer, the time does not count', async () => {
  const { polls, faults, released, lose } = claims(...Array(1000).fill(unreachable()), 'nothing', 'all')

  await lose()
  await vi.advanceTimersByTimeAsync(600_000)

  expect(faults).toHaveLength(1000)
  expect(polls).toHaveLength(1002)
  expect(released).toHaveBeenCalledOnce()
})

test('a further unacknowledged claim is polled for at once, together with the others', async () => {
  const { polls, lose } = claims('nothing')
  const first = await lose()
  await vi.advanceTimersByTimeAsync(10_000)
  polls.splice(0)

  const second = await lose()
  await vi.advanceTimersByTimeAsync(50)

  expect(polls.map(({ leaseIds }) => leaseIds)).toEqual([
    [first, second],
    [first, second],
  ])
})

test('a poll that is refused for a permanent reason is not repeated', async () => {
  const { polls, faults, lose } = claims(new Error('permission denied'))

  await lose()
  await vi.advanceTimersByTimeAsync(300_000)

  expect(polls).toHaveLength(1)
  expect(faults).toEqual(['releasing 1 unacknowledged claims'])
})

test('stop polls once more, and repeats it until the database answers', async () => {
  const { subject, polls, lose } = claims('nothing', unreachable(), unreachable(), 'nothing')
  await lose()
  await vi.advanceTimersByTimeAsync(0)

  const stopped = subject.stop(10_000)
  await vi.advanceTimersByTimeAsync(10_000)
  await stopped

  expect(polls.map(({ at }) => at)).toEqual([0, 0, 500, 1000])
})

test('stop gives up when its time is over, after at least one poll', async () => {
  const { subject, polls, lose } = claims(unreachable())
  await lose()

  const stopped = subject.stop(-1)
  await vi.advanceTimersByTimeAsync(5000)
  await stopped

  expect(polls).toHaveLength(2)
})
