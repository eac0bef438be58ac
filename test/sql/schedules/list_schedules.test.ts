// list_schedules: page by page, in order of the key.
import { expect, test } from 'vitest'
import { askList } from '../../support/ask.js'
import { givenSchedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('each page goes on after the last key of the one before', async () => {
  for (const job_key of ['c', 'a', 'b']) await givenSchedule(db.pool, { job_key })

  expect(await askList(db.pool, 'select job_key from holdfast.list_schedules(n => 2)')).toEqual(['a', 'b'])
  expect(await askList(db.pool, `select job_key from holdfast.list_schedules('b', 2)`)).toEqual(['c'])
})
