import { spread } from '../statistics.mjs'
import { pause, until } from '../waiting.mjs'

export const name = 'kill9'
export const what = 'a worker that holds 20 jobs is killed by SIGKILL; another worker starts them'

const HELD = 20
const GOAL_MS = 3000
const LIVING_EFFECTS = `
  select ((select count(*) from holdfast.ready where type = 'effect')
        + (select count(*) from holdfast.lease where type = 'effect'))::int`

export async function run({ fleet, ask, value, enqueue, client, untilIdle, untilHeldBy, isQuick, check }) {
  const rounds = isQuick ? 3 : 20
  const delays = []
  let marked = 0
  let doomed = await fleet.startWorker()
  for (let round = 0; round < rounds; round += 1) {
    const held = await enqueue('hold', Array(HELD).fill({ ms: 120_000 }))
    await untilHeldBy(doomed, HELD)
    const other = await fleet.startWorker()
    // Some of these are before, some inside, some after their transaction when their worker dies.
    await enqueue(
      'effect',
      Array.from({ length: 30 }, () => ({ beforeMs: Math.random() * 6000, insideMs: 50 })),
    )
    await pause(2500 + Math.random() * 1000)

    const killedAt = await value('select clock_timestamp()::text')
    doomed.kill('SIGKILL')
    await doomed.ended
    const startedElsewhere = () =>
      ask(
        `select extract(epoch from s.at - $1::timestamptz)::float8 * 1000 as ms
           from started as s where s.job_id = any ($2) and s.pid = $3`,
        [killedAt, held, other.pid],
      )
    await until(
      'every job of the killed worker started elsewhere',
      async () => (await startedElsewhere()).length === HELD,
    )
    delays.push(...(await startedElsewhere()).map(({ ms }) => ms))
    marked += await value('select count(*)::int from holdfast.lease where job_id = any ($1) and crashes = 1', [held])

    await until('the effects are over', async () => (await value(LIVING_EFFECTS)) === 0)
    for (const id of held) await client.cancel(id, { reason: 'the round is over' })
    await until('the survivor is free again', async () => other.events('job.lost').length >= HELD)
    doomed = other
  }
  await untilIdle()
  const late = delays.filter((ms) => ms > GOAL_MS).length
  check('every job of every killed worker started elsewhere', delays.length === rounds * HELD, delays.length)
  check('each was marked as having seen a worker die', marked === rounds * HELD, marked)
  check(
    'p99 from kill to start is at most 3 s',
    late <= delays.length * 0.01,
    `${late} of ${delays.length} took longer`,
  )
  return { kills: rounds, ...spread('from kill to start elsewhere', delays) }
}
