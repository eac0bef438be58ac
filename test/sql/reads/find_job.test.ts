// find_job and the view jobs: one row per job, whatever place it is in.
import { describe, expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { type FinalState, givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const find = (id: string) => ask(db.pool, 'select * from holdfast.find_job($1)', [id])

test('a pending job is shown with all that was asked', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')
  const wish = {
    type: 'mail',
    input: { a: 1 },
    key: 'k',
    tags: ['t'],
    dedupe_id: 'd',
    priority: 1,
    delay: '1m',
    queue: 'q',
  }
  const id = await givenIn(client).pendingJob(wish)

  expect((await find(id))[0]).toMatchObject({
    id,
    type: 'mail',
    job_type: 'mail',
    queue: 'q',
    priority: 1,
    state: 'pending',
    key: 'k',
    key_policy: 'exclusive',
    is_current: false,
    attempts: 0,
    max_attempts: 3,
    token: '0',
    locked_by: null,
    locked_until: null,
    lease_id: null,
    parked: false,
    input: { a: 1 },
    output: null,
    error: null,
    tags: ['t'],
    dedupe_id: 'd',
    created_at: new Date('2030-01-01T00:00:00Z'),
    run_at: new Date('2030-01-01T00:01:00Z'),
    run_after: new Date('2030-01-01T00:01:00Z'),
    finished_at: null,
  })
})

test('a running job is shown with its lease', async () => {
  const lease = await given().runningJob({ key: 'k' })

  const [job] = await find(lease.job_id)

  expect(job).toMatchObject({ state: 'running', is_current: true, attempts: 1, locked_by: 'worker-1', ...pick(lease) })
  expect(job?.locked_until.getTime() - job?.locked_at.getTime()).toBe(30_000)
})

const pick = ({ token, lease_id }: { token: string; lease_id: string }) => ({ token, lease_id })

describe('a finished job', () => {
  test.each<FinalState>(['completed', 'failed', 'cancelled', 'superseded'])(
    'that is %s is shown with who ran it',
    async (state) => {
      const { job_id } = await given().finishedJob(state)

      expect(await find(job_id)).toMatchObject([
        { state, attempts: 1, locked_by: 'worker-1', finished_at: expect.any(Date), locked_until: null },
      ])
    },
  )
})

test('an unknown job has no row', async () => {
  expect(await find('999999999')).toEqual([])
})

test('the view and the function show the same', async () => {
  const id = await given().pendingJob()

  expect((await find(id))[0]).toEqual(await askRow(db.pool, 'select * from holdfast.jobs where id = $1', [id]))
})
