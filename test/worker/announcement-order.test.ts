// The order in which a worker announces the steps of a job, when the answers of the database arrive in another.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { until, useHoldfast } from '../support/holdfast.js'
import { lossyPool } from '../support/lossy-pool.js'

const bench = useHoldfast()

test('a slot takes the next job before the outcome of the last one is written', async () => {
  const { pool, delayAnswerTo } = lossyPool(bench.database.url)
  const hasSecondRun = gate()
  delayAnswerTo('complete_plain_jobs_v1', hasSecondRun.opened)
  const announced: string[] = []
  const note = defineJob({
    type: 'note',
    run(n: number) {
      announced.push(`run ${n}`)
      if (n === 2) hasSecondRun.open()
      return n
    },
  })
  const holdfast = bench.open({ jobs: [note], database: pool, concurrency: 1 })
  holdfast.on('job.completed', () => announced.push('job.completed'))
  const handles = await holdfast.enqueueMany(note, [1, 2])

  await holdfast.start()
  await Promise.all(handles.map((handle) => handle.result()))
  await holdfast.close()
  await pool.end()

  expect(announced).toEqual(['run 1', 'run 2', 'job.completed', 'job.completed'])
})

test('the end of a run is announced before the next begins, although the claim was answered first', async () => {
  const { pool, delayAnswerTo } = lossyPool(bench.database.url)
  const isClaimedAgain = gate()
  delayAnswerTo('settle_jobs_v1', isClaimedAgain.opened)
  const announced: string[] = []
  const flaky = defineJob({
    type: 'flaky',
    retry: { base: 0, max: 0 },
    run(_, { job }) {
      announced.push(`run ${job.attempts}`)
      if (job.attempts === 1) throw new Error('once')
    },
  })
  const holdfast = bench.open({ jobs: [flaky], database: pool, poll: '20ms' })
  for (const name of ['job.claimed', 'job.failed', 'job.completed'] as const) {
    holdfast.on(name, ({ attempt }) => announced.push(`${name} ${attempt}`))
  }
  const handle = await holdfast.enqueue(flaky, {})
  await holdfast.start()

  await until(async () => (await bench.look('select from holdfast.lease where attempts = 2')).length === 1)
  // Whatever the claim set off here has happened by the time that more questions are answered.
  for (let n = 0; n < 5; n += 1) await pool.query('select 1')
  expect(announced).toEqual(['job.claimed 1', 'run 1'])
  isClaimedAgain.open()
  await handle.result()
  await holdfast.close()
  await pool.end()

  expect(announced).toEqual(['job.claimed 1', 'run 1', 'job.failed 1', 'job.claimed 2', 'run 2', 'job.completed 2'])
})
