// Lines of handlers are kept with their job, in order, and bounded.
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('lines are kept in order with their level and fields', async () => {
  const id = await givenIn(db.pool).pendingJob()
  await append([line(id, 'one', { level: 'warn', fields: { row: 1 } }), line(id, 'two')])

  expect(await ask(db.pool, 'select message, level, fields from holdfast.read_logs_v1($1)', [id])).toEqual([
    { message: 'one', level: 'warn', fields: { row: 1 } },
    { message: 'two', level: 'info', fields: null },
  ])
})

test('of a job that logs without end the latest 1,000 lines are kept', async () => {
  const id = await givenIn(db.pool).pendingJob()
  await append(Array.from({ length: 1500 }, (_, i) => line(id, `line ${i}`)))
  await append([line(id, 'last')])

  expect(await askValue(db.admin, 'select count(*)::int from holdfast.job_log')).toBe(1000)
  expect(await askList(db.pool, 'select message from holdfast.read_logs_v1($1) offset 999', [id])).toEqual(['last'])
})

test('a long line is cut and a line of no job is dropped', async () => {
  const id = await givenIn(db.pool).pendingJob()
  await append([line(id, 'x'.repeat(5000)), line('999999', 'of nobody')])

  expect(await askList(db.admin, 'select length(message) from holdfast.job_log')).toEqual([2000])
})

function line(job_id: string, message: string, more: object = {}) {
  return { job_id, token: 1, at: '2030-01-01T00:00:00Z', level: 'info', message, ...more }
}

async function append(lines: object[]): Promise<void> {
  await ask(db.pool, 'select holdfast.append_logs_v1($1)', [JSON.stringify(lines)])
}
