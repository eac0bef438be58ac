// A worker reports the load of its process with its heartbeat.
import { expect, test } from 'vitest'
import { defineJob } from '../../src/index.js'
import { until, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()
const job = defineJob({ type: 'task', run: async () => {} })
const reports = () => bench.look('select is_alone, loop_delay_ms, clock_offset_ms from holdfast.list_workers_v1()')

test.each([true, false])(
  'alone: %s is reported, with the delay of its loop and the offset of its clock',
  async (alone) => {
    const holdfast = bench.open({ jobs: [job] })
    await holdfast.start({ alone })

    await until(async () => (await reports()).some(({ loop_delay_ms }) => loop_delay_ms !== null))

    const [report] = await reports()
    expect(report).toMatchObject({ is_alone: alone })
    expect(report?.loop_delay_ms).toBeGreaterThanOrEqual(0)
    expect(Math.abs(report?.clock_offset_ms)).toBeLessThan(60_000)
  },
)
