// list_pipelines: page by page, newest first.
import { expect, test } from 'vitest'
import { ask, askList } from '../support/ask.js'
import { enqueuePipeline } from '../support/pipelines.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()

test('the newest come first, and a page goes on behind the last one seen', async () => {
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) ids.unshift((await enqueuePipeline(db.pool, [{ name: 'a' }])).id)

  const page = await ask(db.pool, 'select id, name, created_at::text from holdfast.list_pipelines_v1(p_limit => 2)')
  const last = page[1]
  const rest = await askList(db.pool, 'select id from holdfast.list_pipelines_v1($1, $2)', [last?.created_at, last?.id])

  expect(page.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  expect(rest).toEqual(ids.slice(2))
})
