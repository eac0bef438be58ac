// Reading goes on where the reader stopped.
import { expect, test } from 'vitest'
import { ask, askList } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('after a line come the next ones, as many as asked for, of that job alone', async () => {
  const id = await givenIn(db.pool).pendingJob()
  const other = await givenIn(db.pool).pendingJob()
  const lines = [id, other, id, id].map((job_id, i) => ({
    job_id,
    token: 1,
    at: new Date(),
    level: 'info',
    message: `${i}`,
  }))
  await ask(db.pool, 'select holdfast.append_logs_v1($1)', [JSON.stringify(lines)])

  const [first] = await ask(db.pool, 'select id, message from holdfast.read_logs_v1($1, 0, 1)', [id])
  expect(first?.message).toBe('0')
  expect(await askList(db.pool, 'select message from holdfast.read_logs_v1($1, $2)', [id, first?.id])).toEqual([
    '2',
    '3',
  ])
})
