import { pause, until } from '../waiting.mjs'

export const name = 'sigstop'
export const what = 'a worker is stopped for longer than its leases and goes on as if nothing had happened'

const JOBS = 20
const STOPPED_MS = 10_000

export async function run({ fleet, ask, value, enqueue, untilIdle, untilHeldBy, check }) {
  const settings = { lease: '4s', print: ['job.completed'] }
  const sleeper = await fleet.startWorker(settings)
  const stale = [
    ...(await enqueue('noop', Array(JOBS).fill({ ms: 6000 }))),
    ...(await enqueue('effect', Array(JOBS).fill({ beforeMs: 6000 }))),
  ]
  await untilHeldBy(sleeper, stale.length)
  const other = await fleet.startWorker(settings)

  sleeper.kill('SIGSTOP')
  await pause(STOPPED_MS)
  const takenOver = await value('select count(*)::int from holdfast.jobs where token >= 2 and id = any ($1)', [stale])
  sleeper.kill('SIGCONT')
  await until(
    'the stopped worker has learnt of its losses',
    async () => sleeper.events('job.lost').length >= stale.length,
  )
  await untilIdle()

  const isStale = ({ id }) => stale.includes(id)
  const accepted = sleeper.events('job.completed').filter(isStale).length
  const refused = sleeper.events('job.lost').filter(isStale).length
  const completedBy = await ask('select distinct locked_by from holdfast.outcome where job_id = any ($1)', [stale])
  check('its jobs were taken while it was stopped', takenOver === stale.length, takenOver)
  check('every outcome of the stopped worker was refused', refused === stale.length && accepted === 0, {
    refused,
    accepted,
  })
  check(
    'the other worker completed them all',
    completedBy.length === 1 && completedBy[0].locked_by === (await other.id()),
    completedBy,
  )
  check('it did not die of it', sleeper.isAlive && sleeper.stderr === '', sleeper.stderr)
  return { 'jobs taken over': takenOver, 'outcomes refused': refused, 'stale outcomes accepted': accepted }
}
