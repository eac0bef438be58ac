// pause_queue: nothing of the queue is claimed any more, what runs goes on.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn, settlement } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const PAUSE = 'select holdfast.pause_queue($1, $2)'

test('pausing returns true, stores since when and by whom, and is audited', async () => {
  const client = await db.connect()
  await setClock(client, '2030-01-01T00:00:00Z')

  expect(await askValue(client, PAUSE, ['mail', 'ops'])).toBe(true)
  expect(await askRow(db.admin, 'select * from holdfast.queue')).toEqual({
    name: 'mail',
    paused_at: new Date('2030-01-01T00:00:00Z'),
    paused_by: 'ops',
  })
  expect(await askRow(db.admin, 'select actor, action, details from holdfast.audit')).toEqual({
    actor: 'ops',
    action: 'pause',
    details: { queue: 'mail' },
  })
})

test('pausing a paused queue returns false and keeps the first time and name', async () => {
  await ask(db.pool, PAUSE, ['mail', 'first'])
  const before = await askRow(db.admin, 'select * from holdfast.queue')

  expect(await askValue(db.pool, PAUSE, ['mail', 'second'])).toBe(false)
  expect(await askRow(db.admin, 'select * from holdfast.queue')).toEqual(before)
  expect(await askList(db.admin, 'select actor from holdfast.audit')).toEqual(['first'])
})

test('a job that runs when its queue is paused can be completed, and new jobs can be enqueued', async () => {
  const lease = await givenIn(db.pool).runningJob()
  await ask(db.pool, PAUSE, ['default', null])
  await givenIn(db.pool).pendingJob()

  expect(await askValue(db.pool, 'select settled from holdfast.complete_jobs($1)', [settlement(lease)])).toBe(true)
  expect(await ask(db.pool, `select * from holdfast.claim_jobs('w', '{default}', '{task}', 5)`)).toEqual([])
})

test('without an actor the role that connected is named', async () => {
  await ask(db.pool, 'select holdfast.pause_queue($1)', ['mail'])

  expect(await askValue(db.admin, 'select paused_by from holdfast.queue')).toBe(
    await askValue(db.pool, 'select session_user'),
  )
})
