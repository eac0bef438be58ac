// A trace is kept with the job and given to who asks for it.
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../support/ask.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const OTHER = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`

const enqueue = (members: object[], common: object) =>
  askList<string>(db.pool, 'select holdfast.enqueue_jobs_v1($1::text::jsonb, $2::text::jsonb)', [
    JSON.stringify(members),
    JSON.stringify(common),
  ])
const traces = (ids: string[]) => ask(db.pool, 'select * from holdfast.read_traces_v1($1) order by job_id', [ids])

test('jobs have the trace of their enqueue, or their own; one without has no row', async () => {
  const traced = await enqueue([{}, { trace: OTHER }], { type: 'mail', trace: TRACE })
  const plain = await enqueue([{}], { type: 'mail' })

  expect(await traces([...traced, ...plain, '999999'])).toEqual([
    { job_id: traced[0], trace: TRACE },
    { job_id: traced[1], trace: OTHER },
  ])
})

test('an enqueue that merges into the pending job of its key brings its own trace', async () => {
  const common = { type: 'mail', key: 'k', key_policy: 'coalesce' }
  const [first] = await enqueue([{}], { ...common, trace: TRACE })
  const [second] = await enqueue([{}], { ...common, trace: OTHER })

  expect(second).toBe(first)
  expect(await askValue(db.admin, 'select trace from holdfast.jobs where id = $1', [first])).toBe(OTHER)
})

test.each(['', 'x', 7, TRACE.toUpperCase(), `${TRACE}-00`])('%j is no trace', async (trace) => {
  await expect(enqueue([{ trace }], { type: 'mail' })).rejects.toMatchObject({ code: 'JH005' })
})
