// What an operator sees of a database, on either engine: workers, and a doctor's verdict.
import { expect, test } from 'vitest'
import { openClient } from '../../src/client/open.js'
import { examine } from '../../src/doctor/examine.js'
import { DEFAULT_LIMITS } from '../../src/doctor/thresholds.js'
import { defineJob } from '../../src/index.js'
import { useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const where = () => ({ database: bench.database.pglite ?? bench.database.url })
const echo = defineJob({ type: 'echo', run: async (input) => input })
const later = defineJob({ type: 'later', queue: 'slow' })

test('workers are seen as they are', async () => {
  const holdfast = bench.open({ jobs: [echo, later] })
  const open = openClient({ ...where(), migrate: false })
  await holdfast.start()

  expect(await open.workers()).toMatchObject([{ queues: ['default'], types: ['echo'], isAlone: false }])
  await open.close()
})

test('a doctor finds a sound database sound, and work that nobody does', async () => {
  const holdfast = bench.open({ jobs: [later] })
  const sound = await examine(where())
  await holdfast.enqueue(later, {})
  const neglected = await examine(where(), { ...DEFAULT_LIMITS, dueMs: 0 })

  expect(sound.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
  expect(neglected.filter(({ verdict }) => verdict === 'fail')).toEqual([
    expect.objectContaining({ check: 'queues without workers', text: expect.stringContaining('queue slow') }),
  ])
})
