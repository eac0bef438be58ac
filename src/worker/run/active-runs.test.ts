import { expect, test } from 'vitest'
import type { ClaimedJob } from '../../domain/job/job.js'
import { Shutdown } from '../../domain/run/abort-reasons.js'
import { ActiveRuns } from './active-runs.js'
import type { Run } from './runner.js'

const job = (n: number) => ({ id: String(n) }) as ClaimedJob

function run(of: ClaimedJob) {
  const reasons: unknown[] = []
  const subject: Run = { job: of, abort: (reason) => reasons.push(reason) }
  return { subject, reasons }
}

test('a run is found by its job until it is removed, whichever place it had', () => {
  const jobs = [1, 2, 3, 4].map(job)
  const [first, second, third, fourth] = jobs as [ClaimedJob, ClaimedJob, ClaimedJob, ClaimedJob]
  const runs = new ActiveRuns()
  for (const each of jobs) runs.add(run(each).subject)

  runs.remove(first)
  runs.remove(third)

  expect(runs.size).toBe(2)
  expect([first, second, third, fourth].map((each) => runs.of(each)?.job.id)).toEqual([undefined, '2', undefined, '4'])
})

test('two runs of the same job under two leases are told apart', () => {
  const [lost, held] = [job(1), job(1)]
  const runs = new ActiveRuns()
  runs.add(run(lost).subject)
  runs.add(run(held).subject)

  runs.remove(lost)

  expect(runs.of(lost)).toBeUndefined()
  expect(runs.jobs).toEqual([held])
})

test('removing what is not there removes nothing', () => {
  const runs = new ActiveRuns()
  runs.add(run(job(1)).subject)

  runs.remove(job(2))

  expect(runs.size).toBe(1)
})

test('all are aborted, and all are waited for that were there', async () => {
  const [one, other] = [run(job(1)), run(job(2))]
  const runs = new ActiveRuns()
  runs.add(one.subject)
  runs.add(other.subject)
  const reason = new Shutdown('the worker is stopping')

  runs.abort(reason)
  expect([one.reasons, other.reasons]).toEqual([[reason], [reason]])
  let hasEnded = false
  const ended = runs.ended().then(() => {
    hasEnded = true
  })
  runs.add(run(job(3)).subject)
  runs.remove(one.subject.job)
  await new Promise((resolve) => setImmediate(resolve))
  expect(hasEnded).toBe(false)
  runs.remove(other.subject.job)
  await ended
})

test('where nothing runs, nothing is waited for', async () => {
  await new ActiveRuns().ended()
})
