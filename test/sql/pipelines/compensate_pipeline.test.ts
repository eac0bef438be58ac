// compensate_pipeline: what was done is taken back, the last completed first.
import { expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { pidOf, waitUntilBlocked } from '../../support/blocked.js'
import { settlement } from '../../support/given.js'
import { enqueuePipeline, type StepWish, stepsOf } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const undone = (name: string, more: object = {}): StepWish => ({
  name,
  compensate: { type: 'undo', queue: 'q' },
  ...more,
})
const given = async (steps: readonly StepWish[]) => {
  const { id } = await enqueuePipeline(db.pool, steps, { on_failure: 'compensate' })
  return { id, ...stepsOf(db.pool, db.admin, id) }
}
const undoStates = () => ask(db.admin, `select step, state from holdfast.jobs where step like 'undo %' order by id`)

test('compensations run one after another, in reverse order of completion; steps without one are passed over', async () => {
  const steps = await given([
    undone('a'),
    undone('b', { after: ['a'] }),
    { name: 'c', after: ['b'] },
    { name: 'd', after: ['c'] },
  ])
  for (const name of ['a', 'b', 'c']) await steps.complete(name)

  await steps.fail('d')

  expect(await undoStates()).toEqual([
    { step: 'undo b', state: 'pending' },
    { step: 'undo a', state: 'waiting' },
  ])
  expect(await askRow(db.admin, `select type, queue, input from holdfast.jobs where step = 'undo b'`)).toEqual({
    type: 'undo',
    queue: 'q',
    input: { 'holdfast.compensates': 'b' },
  })
  await steps.complete('undo b')
  await steps.complete('undo a')
  expect(await askValue(db.pool, 'select state from holdfast.find_pipeline($1)', [steps.id])).toBe('failed')
})

test('a compensation that fails does not keep the others from running', async () => {
  const steps = await given([undone('a'), undone('b', { after: ['a'] }), { name: 'c', after: ['b'] }])
  await steps.complete('a')
  await steps.complete('b')
  await steps.fail('c')

  await steps.fail('undo b')

  expect(await undoStates()).toEqual([
    { step: 'undo b', state: 'failed' },
    { step: 'undo a', state: 'pending' },
  ])
})

test('compensations wait until what still runs has ended, and take that back too', async () => {
  const steps = await given([undone('a'), { name: 'b' }, undone('c', { after: ['a', 'b'] })])
  const running = await steps.leaseOf('a')

  await steps.fail('b')
  expect(await undoStates()).toEqual([])
  await ask(db.pool, 'select * from holdfast.complete_jobs($1)', [settlement(running)])

  expect(await undoStates()).toEqual([{ step: 'undo a', state: 'pending' }])
})

test('the last two steps that end at once, one of them failing: compensation begins exactly once', async () => {
  const steps = await given([undone('a'), { name: 'b' }])
  const [a, b] = [await steps.leaseOf('a'), await steps.leaseOf('b')]
  const [completer, failer] = [await db.connect(), await db.connect()]
  const pid = await pidOf(completer)
  await failer.query('begin')
  await ask(failer, 'select * from holdfast.fail_jobs($1)', [settlement({ ...b, permanent: true })])

  const completion = ask(completer, 'select * from holdfast.complete_jobs($1)', [settlement(a)])
  await waitUntilBlocked(db.admin, pid)
  await failer.query('commit')
  await completion

  expect(await undoStates()).toEqual([{ step: 'undo a', state: 'pending' }])
})

test('a pipeline of which nothing has completed has nothing to take back', async () => {
  const steps = await given([undone('a'), undone('b', { after: ['a'] })])

  await steps.fail('a')

  expect(await undoStates()).toEqual([])
  expect(await steps.states()).toEqual({ a: 'failed', b: 'cancelled' })
})

test('a cancelled pipeline is taken back; cancelled again, it stops doing so', async () => {
  const steps = await given([undone('a'), undone('b', { after: ['a'] })])
  await steps.complete('a')

  await ask(db.pool, 'select * from holdfast.cancel_pipeline($1)', [steps.id])
  expect(await undoStates()).toEqual([{ step: 'undo a', state: 'pending' }])
  await ask(db.pool, 'select * from holdfast.cancel_pipeline($1)', [steps.id])

  expect(await undoStates()).toEqual([{ step: 'undo a', state: 'cancelled' }])
  expect(await askList(db.pool, `select id from holdfast.claim_jobs('w', '{default,q}', '{task,undo}', 10)`)).toEqual(
    [],
  )
})

test('what was taken back is not retried as a whole', async () => {
  const steps = await given([undone('a'), { name: 'b', after: ['a'] }])
  await steps.complete('a')
  await steps.fail('b')
  await steps.complete('undo a')

  await expect(ask(db.pool, 'select holdfast.retry_pipeline($1)', [steps.id])).rejects.toMatchObject({ code: 'JH003' })
})
