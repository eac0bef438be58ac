// The ceiling: Holdfast's own SQL functions driven by a bare loop on two connections, without the library.
// One connection claims 500 jobs ahead, behind its cursor; the other completes what the loop has run. No renewal, no signals,
// no retries of writes: what a worker must do beyond this is what the library costs.
import pg from 'pg'
import { holdfast } from './holdfast.mjs'

export const holdfastFunctions = { name: 'holdfast functions', store: 'postgres', open }

const BATCH = 500
const START = [0, '-infinity', '0']
const CLAIM = {
  name: 'claim',
  text: `select c.jobs, c.priority, c.run_at::text as run_at, c.job_id::text as job_id
           from holdfast.claim_batch_v1('bare/loop', 'bench', array['noop'], ${BATCH}, $1, $2, $3) as c`,
}
const COMPLETE = {
  name: 'complete',
  text: 'select c as lost from holdfast.complete_plain_jobs_v1($1::bigint[], $2::integer[], $3::bigint[], $4::uuid[]) as c',
}

async function open(url) {
  const library = await holdfast.open(url)
  const [claiming, completing] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([claiming.connect(), completing.connect()])
  return {
    ...library,
    async work(handler) {
      let isStopping = false
      const ended = loop(claiming, completing, handler, () => isStopping)
      ended.catch(() => process.exit(1))
      return {
        stop() {
          isStopping = true
          return ended
        },
      }
    },
  }
}

async function loop(claiming, completing, handler, isStopping) {
  const claim = async (values) => (await claiming.query({ ...CLAIM, values })).rows[0]
  let from = START
  let next = claim(from)
  let written = Promise.resolve()
  for (;;) {
    const { jobs, priority, run_at, job_id } = await next
    if (!jobs && from === START && isStopping()) break
    from = jobs ? [priority, run_at, job_id] : START
    next = claim(from)
    if (!jobs) continue
    await Promise.all(jobs.input.map((input) => handler(input)))
    await written
    written = complete(completing, jobs)
  }
  await written
}

async function complete(completing, { id, input, usual, lease_id }) {
  const values = [`{${id}}`, [input.length], [usual.token], [lease_id]]
  const { rows } = await completing.query({ ...COMPLETE, values })
  if (rows[0].lost.length > 0) throw new Error('a lease was lost in the bare loop')
}
