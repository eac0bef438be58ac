// put_schedules: what code defines is stored; what an operator has set stays and is returned.
import { expect, test } from 'vitest'
import { ask, askList, askRow } from '../../support/ask.js'
import { givenSchedule, plan, refusal, schedule } from '../../support/schedules.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const CODE = {
  job_key: 'hourly',
  type: 'report',
  cron: '0 * * * *',
  input: { a: null },
  starts_at: '2026-01-01T00:00:00Z',
}
const put = (...schedules: object[]) =>
  askList<string>(db.pool, 'select holdfast.put_schedules_v1($1)', [JSON.stringify(schedules)])

test('a new schedule is stored as code defines it', async () => {
  expect(await put(CODE)).toEqual([])
  expect(await schedule(db.pool)).toMatchObject({
    cron: '0 * * * *',
    input: { a: null },
    is_edited: false,
    enabled: true,
  })
  expect(await schedule(db.pool)).toMatchObject({ code: { cron: '0 * * * *', input: { a: null }, missed: 'last' } })
})

test('an unchanged definition writes nothing', async () => {
  await put(CODE)
  await plan(db.pool, '2100-01-01T00:00:00Z')
  const before = await askRow(db.admin, 'select xmin, s.* from holdfast.schedule as s')
  await put(CODE)
  await ask(db.admin, `set timezone = 'Asia/Tokyo'`)
  await put(CODE)

  expect(await askRow(db.admin, 'select xmin, s.* from holdfast.schedule as s')).toEqual(before)
})

test('a changed definition is taken over', async () => {
  await put(CODE)
  await put({ ...CODE, cron: '30 * * * *' })

  expect(await schedule(db.pool)).toMatchObject({ cron: '30 * * * *', version: '2', code: { cron: '30 * * * *' } })
})

test("an operator's settings stay, and the definition in code is stored beside them", async () => {
  await put(CODE)
  await ask(db.pool, `select holdfast.update_schedule('hourly', '{"cron": "5 * * * *"}')`)

  expect(await put({ ...CODE, cron: '30 * * * *' })).toEqual(['hourly'])
  expect(await schedule(db.pool)).toMatchObject({ cron: '5 * * * *', is_edited: true, code: { cron: '30 * * * *' } })
})

test('code that agrees with the operator is followed again', async () => {
  await put(CODE)
  await ask(db.pool, `select holdfast.update_schedule('hourly', '{"cron": "5 * * * *"}')`)

  expect(await put({ ...CODE, cron: '5 * * * *' })).toEqual([])
  expect(await schedule(db.pool)).toMatchObject({ is_edited: false })
})

test("a schedule that was made at run time stays its maker's", async () => {
  await givenSchedule(db.pool, { cron: '7 * * * *' })

  expect(await put(CODE)).toEqual(['hourly'])
  expect(await schedule(db.pool)).toMatchObject({ cron: '7 * * * *', is_edited: true, code: { cron: '0 * * * *' } })
})

test('a disabled schedule stays disabled', async () => {
  await put(CODE)
  await ask(db.pool, `select holdfast.disable_schedule('hourly')`)
  await put({ ...CODE, cron: '30 * * * *' })

  expect(await schedule(db.pool)).toMatchObject({ enabled: false, cron: '30 * * * *' })
})

test('two releases that describe the same schedules in opposite orders do not deadlock', async () => {
  const all = Array.from({ length: 20 }, (_, i) => ({ ...CODE, job_key: `k${i}` }))
  for (let minute = 1; minute <= 3; minute += 1) {
    const changed = all.map((each) => ({ ...each, cron: `${minute} * * * *` }))
    await Promise.all([put(...changed), put(...changed.toReversed()), put(...changed)])
  }

  expect(await askList(db.admin, 'select distinct cron from holdfast.schedule')).toEqual(['3 * * * *'])
})

test('one bad member refuses all', async () => {
  expect(await refusal(put(CODE, { ...CODE, job_key: 'bad', cron: 'x' }))).toMatchObject({ code: 'JH005' })
  expect(await askList(db.admin, 'select job_key from holdfast.schedule')).toEqual([])
})
