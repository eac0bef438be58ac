// A job that a process enqueues while its own worker is idle is claimed in the same commit and starts at once.
import { expect, test } from 'vitest'
import { defineJob, type Holdfast, type JobDefinition } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { heard, useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

/** By id, whether the job was claimed with the enqueue. */
function claimedAtOnce(holdfast: Holdfast<readonly JobDefinition[]>): Map<string, boolean> {
  const claimed = new Map<string, boolean>()
  holdfast.on('job.enqueued', ({ ids, isClaimed }) => {
    for (const id of ids) claimed.set(id, isClaimed)
  })
  return claimed
}

async function startAndSleep(holdfast: Holdfast<readonly JobDefinition[]>): Promise<void> {
  const asleep = heard(holdfast, 'worker.asleep')
  await holdfast.start()
  await asleep
}

test('a job that meets an idle worker of its own process runs there once, with one attempt', async () => {
  const runs: unknown[] = []
  const note = defineJob({ type: 'note', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note] })
  const claimed = claimedAtOnce(holdfast)
  await startAndSleep(holdfast)

  const handle = await holdfast.enqueue(note, 1)
  await handle.result()

  expect(claimed.get(handle.id)).toBe(true)
  expect(await handle.read()).toMatchObject({ state: 'completed', attempts: 1, token: '1' })
  expect(runs).toEqual([1])
})

test('no more jobs are claimed at once than there are slots; the others run when those are free', async () => {
  const mayEnd = gate()
  const wait = defineJob({ type: 'wait', run: () => mayEnd.opened })
  const holdfast = bench.open({ jobs: [wait], concurrency: 2 })
  const claimed = claimedAtOnce(holdfast)
  await startAndSleep(holdfast)

  const handles = await Promise.all(Array.from({ length: 10 }, () => holdfast.enqueue(wait, {})))
  const later = await holdfast.enqueueMany(wait, [1, 2, 3])

  expect(handles.filter(({ id }) => claimed.get(id))).toHaveLength(2)
  expect(later.map(({ id }) => claimed.get(id))).toEqual([false, false, false])
  mayEnd.open()
  await Promise.all([...handles, ...later].map((handle) => handle.result()))
})

test('a delayed job and a keyed job are not claimed at once', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const claimed = claimedAtOnce(holdfast)
  await startAndSleep(holdfast)

  const later = await holdfast.enqueue(echo, 1, { delay: '1h' })
  const keyed = await holdfast.enqueue(echo, 2, { key: 'k' })

  expect(await keyed.result()).toBe(2)
  expect(await later.read()).toMatchObject({ state: 'pending', attempts: 0 })
  expect([...claimed.values()]).toEqual([false, false])
})

test('with directHandoff false every job is found by the ordinary claim', async () => {
  const holdfast = bench.open({ jobs: [echo], directHandoff: false })
  const claimed = claimedAtOnce(holdfast)
  await startAndSleep(holdfast)

  for (let n = 0; n < 5; n += 1) expect(await (await holdfast.enqueue(echo, n)).result()).toBe(n)

  expect([...claimed.values()]).toEqual([false, false, false, false, false])
})
