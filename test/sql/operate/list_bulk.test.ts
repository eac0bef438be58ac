// list_bulk: bulk operations, newest first, or one of them.
import { expect, test } from 'vitest'
import { askList, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const start = () =>
  askValue<string>(db.pool, `select id from holdfast.start_bulk_v1('retry', '{"states": ["failed"]}')`)
const list = (before: string | null, n: number) =>
  askList(db.pool, 'select id from holdfast.list_bulk_v1(null, $1, $2)', [before, n])

test('operations come newest first, page by page, and each can be found', async () => {
  const ids = [await start(), await start(), await start()].reverse()

  expect(await list(null, 50)).toEqual(ids)
  expect(await list(null, 2)).toEqual(ids.slice(0, 2))
  expect(await list(ids[1] as string, 2)).toEqual(ids.slice(2))
  expect(await askList(db.pool, 'select id from holdfast.list_bulk_v1($1)', [ids[1]])).toEqual([ids[1]])
  expect(await askList(db.pool, 'select id from holdfast.list_bulk_v1(999999)')).toEqual([])
})
