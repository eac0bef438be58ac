// Jobs that begin to wait and transactions that emit what they wait for, all at once: nobody is left waiting.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const EVENTS = 300
const EMITTERS = 4

test('every job is woken, whether its event came before, while or after it began to wait', async () => {
  const waiting = defineJob({
    type: 'waiting',
    run: async ({ n }: { n: number }, ctx) => ctx.waitFor<number>(`event ${n}`),
  })
  const holdfast = bench.open({ jobs: [waiting], concurrency: 20 })
  const suspended = heard(holdfast, 'job.suspended')
  const inputs = Array.from({ length: EVENTS }, (_, n) => ({ n }))
  await holdfast.start()
  const handles = await holdfast.enqueueMany(waiting, inputs)

  // Each transaction stays open for a random while, so that some jobs begin to wait beside it.
  const emitters = Array.from({ length: EMITTERS }, async (_, first) => {
    const session = await bench.database.connect()
    for (let n = first; n < EVENTS; n += EMITTERS) {
      await session.query('begin')
      await session.query('select * from holdfast.emit_event($1, $2)', [`event ${n}`, String(n)])
      await session.query('select pg_sleep(random() * 0.02)')
      await session.query(n % 10 === first ? 'rollback' : 'commit')
    }
    await session.end()
  })
  await Promise.all(emitters)
  // Those that were rolled back have not happened yet.
  const firsts = await Promise.all(inputs.map(({ n }) => holdfast.emit(`event ${n}`, n)))

  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(inputs.map(({ n }) => n))
  expect(firsts.filter(({ isFirst }) => isFirst).length).toBeGreaterThan(0)
  expect(await suspended).toMatchObject({ type: 'waiting' })
})
