// recent_work: how much was done lately, and how long it had waited from due to claimed.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const RECENT = 'select * from holdfast.recent_work_v1()'

/** Waited so long before it was claimed. */
async function finished(waitMs: number, wish: object = {}): Promise<void> {
  const { job_id } = await givenIn(db.pool).finishedJob('completed', { ...wish })
  await ask(
    db.admin,
    `update holdfast.outcome set run_at = locked_at - make_interval(secs => $2::float8 / 1000) where job_id = $1`,
    [job_id, waitMs],
  )
}

test('nothing done is zero jobs and no wait', async () => {
  expect(await askRow(db.pool, RECENT)).toEqual({
    jobs: 0,
    is_capped: false,
    wait_p95_ms: null,
    chain_wait_p95_ms: null,
  })
})

test('the wait of pipelines is measured by itself', async () => {
  await finished(100)
  await finished(100)
  await finished(5000, { pipeline_id: randomUUID() })

  const { jobs, wait_p95_ms, chain_wait_p95_ms } = await askRow(db.pool, RECENT)

  expect(jobs).toBe(3)
  expect(chain_wait_p95_ms).toBeCloseTo(5000)
  expect(wait_p95_ms).toBeGreaterThan(100)
})

test('what ended before the window, or without being claimed, does not count; what is too much is cut', async () => {
  await finished(1)
  await finished(1)
  await finished(1)
  await ask(db.pool, 'select holdfast.cancel_job($1)', [await givenIn(db.pool).pendingJob()])

  expect(await askRow(db.pool, `select jobs, is_capped from holdfast.recent_work_v1('5 minutes', 2)`)).toEqual({
    jobs: 2,
    is_capped: true,
  })
  await ask(db.admin, `update holdfast.outcome set finished_at = finished_at - interval '6 minutes'`)
  expect(await askRow(db.pool, RECENT)).toMatchObject({ jobs: 0 })
})
