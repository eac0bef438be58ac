// deregister_worker: a worker that leaves is gone, and only that one.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('its row is gone and the others stay', async () => {
  for (const id of ['a', 'b']) {
    await ask(db.pool, `select holdfast.register_worker_v1($1, 'pod', 1, '1', '{default}', '{task}', 1)`, [id])
  }

  await ask(db.pool, `select holdfast.deregister_worker('a')`)

  expect(await askList(db.admin, 'select id from holdfast.worker')).toEqual(['b'])
})

test('a worker that is not there leaves without an error', async () => {
  await ask(db.pool, `select holdfast.deregister_worker('unknown')`)

  expect(await askList(db.admin, 'select id from holdfast.worker')).toEqual([])
})

test('leaving does not touch the jobs it holds', async () => {
  const id = await givenIn(db.pool).pendingJob()
  await givenIn(db.pool).claimed(id, 'a')

  await ask(db.pool, `select holdfast.deregister_worker('a')`)

  expect(await askList(db.admin, 'select locked_by from holdfast.lease')).toEqual(['a'])
})
