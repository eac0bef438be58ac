// cancel_bulk: what is done stays done, nothing further is.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const cancel = (id: string) => askValue(db.pool, `select holdfast.cancel_bulk_v1($1, 'grace')`, [id])

async function started(): Promise<string> {
  await givenIn(db.pool).finishedJob('failed')
  await givenIn(db.pool).finishedJob('failed')
  return askValue<string>(db.pool, `select id from holdfast.start_bulk_v1('retry', '{"states": ["failed"]}')`)
}

test('a cancelled operation is worked on no further', async () => {
  const id = await started()
  await ask(db.pool, 'select * from holdfast.work_bulk_v1(1)')

  expect(await cancel(id)).toBe(true)
  expect(await ask(db.pool, 'select * from holdfast.work_bulk_v1(1)')).toEqual([])
  expect(await askRow(db.pool, 'select state, done from holdfast.list_bulk_v1($1)', [id])).toEqual({
    state: 'cancelled',
    done: '1',
  })
  expect(await askList(db.admin, 'select state from holdfast.jobs order by id')).toEqual(['failed', 'pending'])
  expect(await askList(db.admin, `select actor from holdfast.audit where action = 'cancel_bulk'`)).toEqual(['grace'])
})

test('one that is over cannot be cancelled, and nothing is written down', async () => {
  const id = await started()
  await ask(db.pool, 'select * from holdfast.work_bulk_v1(9)')

  expect(await cancel(id)).toBe(false)
  expect(await askList(db.admin, `select from holdfast.audit where action = 'cancel_bulk'`)).toEqual([])
})

test('one that does not exist is refused', async () => {
  await expect(cancel('999999')).rejects.toMatchObject({ code: 'JH002' })
})
