import { pause, until } from '../waiting.mjs'

export const name = 'poison'
export const what = 'a handler ends its own process, by exit and by SIGKILL; the scenario starts new workers'

export async function run({ fleet, ask, value, enqueue, untilIdle, check }) {
  const statistics = {}
  for (const by of ['exit', 'SIGKILL']) {
    const workers = keepTwoWorkers(fleet)
    await untilBothAreBusy({ enqueue, value })
    const [id] = await enqueue('poison', [{ by }], { priority: 0 })
    const startedAt = performance.now()
    let job
    do {
      await enqueue('noop', Array(10).fill({ ms: 400 }))
      await pause(500)
      job = (await ask('select state, attempts, error from holdfast.jobs where id = $1', [id]))[0]
    } while (job.state !== 'failed' && performance.now() - startedAt < 90_000)
    const took = Math.round(performance.now() - startedAt)
    const lost = await ask('select token, error from holdfast.attempt where job_id = $1', [id])
    await untilIdle()
    const deaths = await workers.stop()

    check(`${by}: it failed`, job.state === 'failed', job)
    check(`${by}: after exactly 3 deaths`, deaths === 3 && lost.length === 3 && job.attempts === 3, {
      deaths,
      lost: lost.length,
      job,
    })
    const { worker, rss_bytes, last_logs } = job.error ?? {}
    check(
      `${by}: with the worker, its memory and the last log line`,
      Boolean(worker && rss_bytes > 0 && last_logs?.includes(`about to end by ${by}`)),
      job.error,
    )
    statistics[`${by}: deaths`] = deaths
    statistics[`${by}: from enqueue to failed`] = `${took} ms`
  }
  const bystanders = await value(`select count(*)::int from holdfast.jobs where type = 'noop'`)
  const unfinished = await value(`select count(*)::int from holdfast.jobs where type = 'noop' and state <> 'completed'`)
  const beside = await value(
    `select count(distinct a.job_id)::int from holdfast.attempt as a join holdfast.job as j on j.id = a.job_id where j.type = 'noop'`,
  )
  check('bystanders were running when a worker died', beside > 0, beside)
  check('every bystander completed', unfinished === 0, unfinished)
  return { ...statistics, bystanders, 'of these beside it when a worker died': beside }
}

/** With bystanders that still run when the poison comes: whichever of the two takes it dies beside some. */
async function untilBothAreBusy({ enqueue, value }) {
  const areBusy = async () => {
    await enqueue('noop', Array(2).fill({ ms: 3000 }))
    return (await value(`select count(distinct locked_by)::int from holdfast.lease where type = 'noop'`)) === 2
  }
  await until('both workers run bystanders', areBusy, { everyMs: 100 })
}

/** Starts a new worker for each that dies, as a supervisor would. */
function keepTwoWorkers(fleet) {
  let deaths = 0
  let isOver = false
  const keepOne = async () => {
    while (!isOver) {
      const worker = await fleet.startWorker()
      const { code } = await Promise.race([worker.ended, stopped(worker)])
      if (code !== 0) deaths += 1
    }
  }
  const stopped = async (worker) => {
    while (!isOver) await pause(100)
    worker.kill('SIGTERM')
    return worker.ended
  }
  const both = Promise.all([keepOne(), keepOne()])
  return {
    async stop() {
      isOver = true
      await both
      return deaths
    },
  }
}
