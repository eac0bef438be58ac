// store_durable_step: only the holder keeps what a step came to, and the first output stands.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { givenIn, type Lease } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const remember = ({ job_id, token, lease_id }: Lease, name: string | null, output: unknown) =>
  ask(db.pool, 'select holdfast.store_durable_step($1, $2, $3, $4, $5)', [
    job_id,
    token,
    lease_id,
    name,
    JSON.stringify(output),
  ])
const steps = (id: string) =>
  ask(db.pool, 'select name, output, is_over, token from holdfast.read_durable_steps($1)', [id])

test('the output of a step is kept with the token of its claim', async () => {
  const lease = await given().runningJob()

  await remember(lease, 'charge', { paid: true })

  expect(await steps(lease.job_id)).toEqual([{ name: 'charge', output: { paid: true }, is_over: true, token: '1' }])
})

test('a step that is told twice keeps its first output', async () => {
  const lease = await given().runningJob()
  await remember(lease, 'charge', 1)

  await remember(lease, 'charge', 2)

  expect(await steps(lease.job_id)).toMatchObject([{ output: 1 }])
})

test('a stale worker is refused and nothing is kept', async () => {
  const lease = await given().runningJob()

  await expect(remember({ ...lease, token: '0' }, 'charge', 1)).rejects.toMatchObject({ code: 'JH001' })
  await expect(remember({ ...lease, lease_id: randomUUID() }, 'charge', 1)).rejects.toMatchObject({ code: 'JH001' })
  expect(await steps(lease.job_id)).toEqual([])
})

test('a finished job takes no step', async () => {
  const lease = await given().finishedJob('completed')

  await expect(remember(lease, 'charge', 1)).rejects.toMatchObject({ code: 'JH001' })
})

test('a step that came further clears the job of the deaths before it', async () => {
  const lease = await given().runningJob()
  await ask(db.admin, 'update holdfast.lease set crashes = 2')

  await remember(lease, 'charge', 1)

  expect(await askValue(db.admin, 'select crashes from holdfast.lease')).toBe(0)
})

test.each([null, '', 'x'.repeat(201), 'a\nb'])('the name %j is refused by its code', async (name) => {
  const lease = await given().runningJob()

  await expect(remember(lease, name, 1)).rejects.toMatchObject({ code: 'JH005' })
})

test('an output that is too large to keep is refused by its code', async () => {
  const lease = await given().runningJob()

  await expect(remember(lease, 'read', 'x'.repeat(300_000))).rejects.toMatchObject({
    code: 'JH005',
    message: expect.stringContaining('the output of step read takes'),
  })
})

test('steps go with their job when it is pruned, and so do old events', async () => {
  const client = await db.connect()
  const lease = await given().runningJob()
  await remember(lease, 'charge', 1)
  await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [JSON.stringify([lease])])
  await ask(db.pool, `select * from holdfast.emit_event('paid')`)
  await client.query(`set holdfast.fake_now = '2199-01-01'`)

  await ask(client, `select holdfast.prune_jobs_v1('1 day')`)

  const LEFT =
    'select (select count(*)::int from holdfast.durable_step) as steps, (select count(*)::int from holdfast.event) as events'
  expect(await askRow(db.admin, LEFT)).toEqual({ steps: 0, events: 0 })
})

test.each([
  ['failed', 1],
  ['cancelled', 1],
  ['completed', 0],
] as const)('a retry of a job that was %s finds %i of its steps', async (state, left) => {
  const lease = await given().runningJob()
  await remember(lease, 'charge', 1)
  if (state === 'cancelled') await ask(db.pool, 'select holdfast.cancel_job($1)', [lease.job_id])
  else {
    const settle = `select * from holdfast.${state === 'failed' ? 'fail' : 'complete'}_jobs($1)`
    await ask(db.pool, settle, [JSON.stringify([{ ...lease, permanent: true }])])
  }

  await ask(db.pool, 'select holdfast.retry_job($1)', [lease.job_id])

  expect(await steps(lease.job_id)).toHaveLength(left)
})
