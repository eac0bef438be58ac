// offer_parked: what waits behind nobody is let out, one job per free key and call.
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { refuseToWait } from '../../support/blocked.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const given = () => givenIn(db.pool)
const OFFER = 'select holdfast.offer_parked_v1()'
const unparked = () => askList(db.admin, 'select job_id from holdfast.ready where not parked order by job_id')

/** As a crash could have left it: the key is free and its jobs are parked. */
async function givenStranded(key: string, count: number, wish: object = {}): Promise<string[]> {
  await given().finishedJob('completed', { key })
  const ids: string[] = []
  for (let i = 0; i < count; i += 1) ids.push(await given().pendingJob({ key, ...wish }))
  await ask(db.admin, 'update holdfast.ready set parked = true where key = $1', [key])
  return ids
}

test('each call lets out the next job of each free key, in order', async () => {
  const [a1, a2] = await givenStranded('a', 2)
  const [b1] = await givenStranded('b', 1)

  expect(await askValue(db.pool, OFFER)).toBe(2)
  expect(await unparked()).toEqual([a1, b1])
  expect(await askValue(db.pool, OFFER)).toBe(1)
  expect(await unparked()).toEqual([a1, a2, b1])
  expect(await askValue(db.pool, OFFER)).toBe(0)
})

test('a job that nobody has a handler for does not hold up the others of its key', async () => {
  const [foreign] = await givenStranded('k', 1, { type: 'foreign' })
  const mine = await given().pendingJob({ key: 'k' })
  await ask(db.admin, 'update holdfast.ready set parked = true')

  await ask(db.pool, OFFER)
  await ask(db.pool, OFFER)

  expect(await unparked()).toEqual([foreign, mine])
  expect(await askList(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 5)`)).toEqual([mine])
})

test('the jobs of a held key stay parked', async () => {
  await given().runningJob({ key: 'k' })
  await given().pendingJob({ key: 'k' })
  await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 5)`)

  expect(await askValue(db.pool, OFFER)).toBe(0)
  expect(await unparked()).toEqual([])
})

test('a key that another transaction has locked is left for the next call, without waiting', async () => {
  const [id] = await givenStranded('k', 1)
  const [other, client] = [await db.connect('admin'), await db.connect()]
  await refuseToWait(client)
  await other.query('begin')
  await other.query('select from holdfast.job_key for update')

  expect(await askValue(client, OFFER)).toBe(0)
  await other.query('rollback')

  expect(await askValue(client, OFFER)).toBe(1)
  expect(await unparked()).toEqual([id])
})
