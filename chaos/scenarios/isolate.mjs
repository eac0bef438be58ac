import { readFile } from 'node:fs/promises'
import { pause, until } from '../waiting.mjs'

export const name = 'isolate'
export const what = 'handlers that never return or take too much memory, in a process and in a thread of their own'

export async function run(context) {
  const { fleet, ask, enqueue, untilIdle, check } = context
  const worker = await fleet.startWorker({ isolated: true, options: { queues: { default: 5, isolated: 4 } } })
  const statistics = {}
  for (const kind of ['process', 'thread']) {
    await enqueue('noop', Array(400).fill({ ms: 50 }))
    const [spin] = await enqueue(`spin_${kind}`, [{}])
    const [hog] = await enqueue(`hog_${kind}`, [{}])
    const jobs = () =>
      ask('select id, state, error, locked_at, finished_at from holdfast.jobs where id = any ($1)', [[spin, hog]])
    await until('both have ended', async () => (await jobs()).every(({ state }) => state === 'failed'))
    const byId = Object.fromEntries((await jobs()).map((job) => [job.id, job]))
    const [beside] = await ask(
      `select count(*)::int as n from holdfast.outcome as o
         join holdfast.job as j on j.id = o.job_id and j.type = 'noop'
        where o.finished_at between $1 and $2`,
      [byId[spin].locked_at, byId[spin].finished_at],
    )
    const [begun] = await ask('select pid, token as thread from started where job_id = $1', [spin])
    check(`${kind}: the busy loop had begun`, begun !== undefined)
    check(`${kind}: the busy loop failed by its timeout`, byId[spin].error.code === 'TIMED_OUT', byId[spin].error)
    check(
      `${kind}: it ran in a ${kind} of its own`,
      kind === 'process' ? begun.pid !== worker.pid : begun.thread !== '0',
      begun,
    )
    if (kind === 'process') {
      await pause(200)
      check('process: the busy process is gone', !exists(begun.pid), begun.pid)
    }
    check(`${kind}: other jobs went on beside it`, beside.n > 0, beside.n)
    check(
      `${kind}: too much memory failed the job with the reason`,
      byId[hog].error.name === 'IsolateCrashed' &&
        /memory|heap|MB\b.*ended|SIGABRT|SIGKILL/i.test(byId[hog].error.message),
      byId[hog].error,
    )
    statistics[`${kind}: busy loop of timeout 3 s stopped after`] =
      `${byId[spin].finished_at - byId[spin].locked_at} ms`
    statistics[`${kind}: completed beside it`] = beside.n
    statistics[`${kind}: reason of the hog`] = byId[hog].error.message
  }
  await untilIdle()
  check('the worker survived', worker.isAlive && worker.stderr === '', worker.stderr)
  const busy = await busyShare(worker.pid)
  check('no loop runs on in the worker', busy === undefined || busy < 0.5, busy)
  return { ...statistics, 'share of a core that the worker takes at rest': busy ?? 'unknown on this system' }
}

/** Of one second; undefined where the system does not report it. */
async function busyShare(pid) {
  const ticks = async () => {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
    const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields && Number(fields[11]) + Number(fields[12])
  }
  const before = await ticks()
  await pause(1000)
  const after = await ticks()
  return before === undefined || after === undefined ? undefined : (after - before) / 100
}

function exists(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
