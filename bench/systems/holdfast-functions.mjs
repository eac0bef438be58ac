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
  text: `select c.id, c.input, c.token, c.lease_id, c.priority, c.run_at::text
           from holdfast.claim_jobs_v1('bare/loop', array['bench'], array['noop'], ${BATCH}, $1, $2, $3) as c`,
}
const COMPLETE = { name: 'complete', text: 'select c.settled from holdfast.complete_jobs_v1($1::text::jsonb) as c' }

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
  const claim = async (values) => (await claiming.query({ ...CLAIM, values })).rows
  let from = START
  let next = claim(from)
  let written = Promise.resolve()
  for (;;) {
    const jobs = await next
    if (jobs.length === 0 && from === START && isStopping()) break
    const last = jobs.at(-1)
    from = last ? [last.priority, last.run_at, last.id] : START
    next = claim(from)
    await Promise.all(jobs.map((job) => handler(job.input)))
    await written
    if (jobs.length > 0) written = complete(completing, jobs)
  }
  await written
}

async function complete(completing, jobs) {
  const members = jobs.map(({ id, token, lease_id }) => `{"job_id":${id},"token":${token},"lease_id":"${lease_id}"}`)
  const { rows } = await completing.query({ ...COMPLETE, values: [`[${members.join(',')}]`] })
  if (!rows.every((row) => row.settled)) throw new Error('a lease was lost in the bare loop')
}
