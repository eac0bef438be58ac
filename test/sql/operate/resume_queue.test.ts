// resume_queue: the queue is served again, and workers are notified.
import { expect, test } from 'vitest'
import { ask, askList, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { listen } from '../../support/listen.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const RESUME = 'select holdfast.resume_queue($1, $2)'

test('a resumed queue yields its jobs again', async () => {
  const id = await givenIn(db.pool).pendingJob()
  await ask(db.pool, `select holdfast.pause_queue('default', 'ops')`)

  expect(await askValue(db.pool, RESUME, ['default', 'ops'])).toBe(true)
  expect(await askList(db.pool, `select id from holdfast.claim_jobs('w', '{default}', '{task}', 5)`)).toEqual([id])
})

test('it is audited after the pause', async () => {
  await ask(db.pool, `select holdfast.pause_queue('mail', 'one')`)
  await ask(db.pool, RESUME, ['mail', 'two'])

  expect(await ask(db.admin, 'select actor, action, details from holdfast.audit order by id')).toEqual([
    { actor: 'one', action: 'pause', details: { queue: 'mail' } },
    { actor: 'two', action: 'resume', details: { queue: 'mail' } },
  ])
})

test('workers are notified', async () => {
  await ask(db.pool, `select holdfast.pause_queue('mail')`)
  const heard = await listen(await db.connect(), 'holdfast_wake')

  await ask(db.pool, RESUME, ['mail', null])

  expect(await heard()).toEqual([''])
})

test.each(['never-seen', 'resumed-before'])(
  'a queue that is not paused (%s) returns false and notifies no worker',
  async (name) => {
    await ask(db.pool, `select holdfast.pause_queue('resumed-before')`)
    await ask(db.pool, `select holdfast.resume_queue('resumed-before')`)
    const heard = await listen(await db.connect(), 'holdfast_wake')

    expect(await askValue(db.pool, RESUME, [name, null])).toBe(false)
    expect(await heard()).toEqual([])
  },
)
