// list_audit: who did what by hand, newest first.
import { expect, test } from 'vitest'
import { ask, type Row } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const list = (
  wish: { job?: string; actor?: string; action?: string; before?: string; n?: number } = {},
): Promise<Row[]> =>
  ask(db.pool, 'select * from holdfast.list_audit_v1($1, $2, $3, $4, $5)', [
    wish.job ?? null,
    wish.actor ?? null,
    wish.action ?? null,
    wish.before ?? null,
    wish.n ?? 50,
  ])

async function operations(): Promise<string> {
  const id = await givenIn(db.pool).pendingJob()
  await ask(db.pool, `select holdfast.cancel_job($1, 'why', 'ada')`, [id])
  await ask(db.pool, `select holdfast.retry_job($1, 'grace')`, [id])
  await ask(db.pool, `select holdfast.pause_queue('bulk', 'ada')`)
  return id
}

test('entries come newest first and can be narrowed to a job, an actor and an action', async () => {
  const id = await operations()

  expect(await list()).toMatchObject([
    { actor: 'ada', action: 'pause', job_id: null, details: { queue: 'bulk' }, next: null },
    { actor: 'grace', action: 'retry', job_id: id },
    { actor: 'ada', action: 'cancel', job_id: id, details: { from: 'pending', reason: 'why' } },
  ])
  expect(await list({ job: id })).toMatchObject([{ action: 'retry' }, { action: 'cancel' }])
  expect(await list({ actor: 'ada' })).toMatchObject([{ action: 'pause' }, { action: 'cancel' }])
  expect(await list({ actor: 'ada', action: 'cancel' })).toMatchObject([{ action: 'cancel' }])
  expect(await list({ job: id, actor: 'nobody' })).toMatchObject([{ id: null, next: null }])
})

test.each([{}, { actor: 'ada' }, { action: 'pause' }])('pages of one have every entry of %j once', async (wish) => {
  await operations()
  const seen: string[] = []
  for (let before: string | undefined; ; ) {
    const [row] = await list({ ...wish, n: 1, ...(before !== undefined && { before }) })
    if (row?.id !== null) seen.push(row?.id)
    if (row?.next === null) break
    before = row?.next
  }

  expect(seen).toEqual((await list(wish)).map((row) => row.id))
})

test('a page that finds nothing in ten thousand entries returns where the next one begins', async () => {
  await ask(
    db.admin,
    `insert into holdfast.audit (at, actor, action) select holdfast.now(), case when n = 1 then 'rare' else 'ada' end, 'x'
                         from generate_series(1, 10500) as n order by n`,
  )
  const [vain] = await list({ actor: 'rare' })

  expect(vain).toMatchObject({ id: null, next: expect.any(String) })
  expect(await list({ actor: 'rare', before: vain?.next })).toMatchObject([{ actor: 'rare', next: null }])
})
