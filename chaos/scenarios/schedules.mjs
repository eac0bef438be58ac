import { fireAndKill, shareClock } from '../schedule-ticks.mjs'

export const name = 'schedules'
export const what =
  'five workers serve a schedule on a shared clock, and the worker that fired a tick is killed by SIGKILL'

export async function run({ fleet, ask, client, acknowledged, untilIdle, isQuick, check }) {
  const ticks = isQuick ? 50 : 500
  const clock = await ask(`select pg_get_functiondef('holdfast.now()'::regprocedure) as text`)
  await shareClock(ask)
  const { killed, jobs, doubled, missing } = await fireAndKill({ fleet, ask }, ticks)
  check('each tick cost its worker its life', killed === ticks, killed)
  check('every tick made a job', jobs === ticks && missing === 0, { jobs, missing })
  check('no tick made two', doubled === 0, doubled)

  // With the wall clock again, what was fired is run.
  await ask(clock[0].text)
  await client.schedules.delete('every-minute')
  await ask(`update holdfast.ready set run_at = holdfast.now() where queue = 'scheduled'`)
  for (const { id } of await ask('select id from holdfast.job')) acknowledged.add(id)
  await fleet.startWorker({ options: { queues: ['scheduled'] } })
  await untilIdle()
  return { ticks, 'workers killed': killed, jobs, 'made twice': doubled, missing }
}
