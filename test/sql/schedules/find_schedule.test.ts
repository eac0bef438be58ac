// find_schedule: one row, or none.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { givenSchedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('it gives the schedule of that key', async () => {
  await givenSchedule(db.pool)
  await givenSchedule(db.pool, { job_key: 'other' })

  expect(await askList(db.pool, `select job_key from holdfast.find_schedule('other')`)).toEqual(['other'])
  expect(await ask(db.pool, `select * from holdfast.find_schedule('none')`)).toEqual([])
})
