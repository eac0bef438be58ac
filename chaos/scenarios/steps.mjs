import { pause } from '../waiting.mjs'

export const name = 'steps'
export const what = 'handlers of three steps with sleeps between them; a worker is killed by SIGKILL again and again'

// A step runs again only if its worker died before its output was stored; what is stored is never run again.
const RUN_AGAIN = `
  select count(*)::int from step_log as g
    join holdfast.durable_step as s on s.job_id = g.job_id and s.kind = 'step' and s.name = g.name
   where g.token > s.token`
const FORGOTTEN = `
  select count(*)::int from holdfast.jobs as j
   where j.type = 'steps'
     and j.output is distinct from (
       select jsonb_agg(s.output order by s.at) from holdfast.durable_step as s where s.job_id = j.id and s.kind = 'step')`

export async function run({ fleet, value, enqueue, untilIdle, isQuick, check }) {
  const [jobs, rounds] = isQuick ? [300, 4] : [2000, 15]
  const workers = [await fleet.startWorker(), await fleet.startWorker(), await fleet.startWorker()]
  await enqueue('steps', Array(jobs).fill({ restMs: rounds * 500 }))
  let living = 0
  for (let round = 0; round < rounds; round += 1) {
    await pause(1000 + Math.random() * 1000)
    living += await value(`select count(*)::int from holdfast.jobs where state in ('pending', 'running')`)
    const place = round % workers.length
    workers[place].kill('SIGKILL')
    await workers[place].ended
    workers[place] = await fleet.startWorker()
  }
  await untilIdle()

  const completed = await value(`select count(*)::int from holdfast.jobs where type = 'steps' and state = 'completed'`)
  const ran = await value('select count(*)::int from step_log')
  const most = await value('select max(token)::int from holdfast.outcome')
  check('jobs lived while workers were killed', living > jobs, living)
  check('every job completed', completed === jobs, completed)
  check('no step ran after its output was stored', (await value(RUN_AGAIN)) === 0, await value(RUN_AGAIN))
  check('every output is what the steps had given', (await value(FORGOTTEN)) === 0, await value(FORGOTTEN))
  return {
    jobs,
    kills: rounds,
    'steps run': ran,
    'of these twice': ran - jobs * 3,
    'most claims of one job': most,
  }
}
