// chain_jobs: what follows a running job is enqueued in the transaction that completes it.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { enqueuePipeline, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const TWO = JSON.stringify([{ type: 'task' }, { type: 'task', priority: 1 }])

test('chained jobs are seen by no one before the transaction commits', async () => {
  const { job_id, token, lease_id } = await givenIn(db.pool).runningJob()
  const worker = await db.connect()
  await worker.query('begin')

  const ids = await askList(worker, 'select holdfast.chain_jobs($1, $2, $3, $4)', [job_id, token, lease_id, TWO])
  await ask(worker, 'select holdfast.complete_job($1, $2, $3)', [job_id, token, lease_id])
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(1)
  await worker.query('commit')

  expect(await askList(db.admin, 'select job_id from holdfast.ready order by job_id')).toEqual(ids)
})

test('a lost lease chains nothing', async () => {
  const { job_id, token } = await givenIn(db.pool).runningJob()

  await expect(
    ask(db.pool, 'select holdfast.chain_jobs($1, $2, $3, $4)', [job_id, token, randomUUID(), TWO]),
  ).rejects.toMatchObject({ code: 'JH001' })

  expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(1)
})

test('a job chained in a pipeline with a graph concerns it: its failure stops the rest', async () => {
  const { id } = await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b' }, { name: 'c', after: ['b'] }])
  const steps = stepsOf(db.pool, db.admin, id)
  const { job_id, token, lease_id } = await steps.leaseOf('a')
  const chained = await askValue<string>(db.pool, 'select holdfast.chain_jobs($1, $2, $3, $4)', [
    job_id,
    token,
    lease_id,
    JSON.stringify([{ type: 'task' }]),
  ])

  await ask(db.pool, 'select holdfast.cancel_job($1)', [chained])

  expect(await askValue(db.admin, 'select pipeline_id from holdfast.job where id = $1', [chained])).toBe(id)
  expect(await askList(db.admin, 'select state from holdfast.jobs where step is not null order by id')).toEqual([
    'running',
    'cancelled',
    'cancelled',
  ])
})
