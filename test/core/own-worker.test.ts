// What a process enqueues while its own worker has nothing to do is started at once, in the same commit.
import { expect, test } from 'vitest'
import { defineJob, type Holdfast, type JobDefinition } from '../../src/index.js'
import { gate } from '../support/gate.js'
import { useHoldfast } from '../support/holdfast.js'

const bench = useHoldfast()

const echo = defineJob({ type: 'echo', run: (input: unknown) => input })

/** By id, whether this process's worker had the job from the start. */
function heldLeases(holdfast: Holdfast<readonly JobDefinition[]>): Map<string, boolean> {
  const held = new Map<string, boolean>()
  holdfast.on('job.enqueued', ({ ids, isClaimed }) => {
    for (const id of ids) held.set(id, isClaimed)
  })
  return held
}

test('a job that meets an idle worker of its own process runs there once, with one attempt', async () => {
  const runs: unknown[] = []
  const note = defineJob({ type: 'note', run: (n: number) => void runs.push(n) })
  const holdfast = bench.open({ jobs: [note] })
  const held = heldLeases(holdfast)
  await holdfast.start()

  let n = 0
  // A worker that has just started or just looked is not idle yet.
  for (let isClaimed = false; !isClaimed; n += 1) {
    const handle = await holdfast.enqueue(note, n)
    await handle.result()
    isClaimed = held.get(handle.id) === true
    expect(await handle.read()).toMatchObject({ state: 'completed', attempts: 1, token: '1' })
  }

  expect(runs).toEqual(Array.from({ length: n }, (_, i) => i))
})

test('no more are held than there are slots; the others run when those are free', async () => {
  let mayEnd = gate()
  const wait = defineJob({ type: 'wait', run: () => mayEnd.opened })
  const holdfast = bench.open({ jobs: [wait], concurrency: 2 })
  const held = heldLeases(holdfast)
  await holdfast.start()

  // Again where the worker was just looking: then it keeps no slot at all.
  for (let taken = 0; taken === 0; mayEnd = gate()) {
    const handles = await Promise.all(Array.from({ length: 10 }, () => holdfast.enqueue(wait, {})))
    const later = await holdfast.enqueueMany(wait, [1, 2, 3])

    taken = handles.filter(({ id }) => held.get(id)).length
    expect(taken).toBeLessThanOrEqual(2)
    expect(later.map(({ id }) => held.get(id))).toEqual([false, false, false])
    mayEnd.open()
    await Promise.all([...handles, ...later].map((handle) => handle.result()))
  }
})

test('what must wait is not held: a later job, a keyed one', async () => {
  const holdfast = bench.open({ jobs: [echo] })
  const held = heldLeases(holdfast)
  await holdfast.start()

  const later = await holdfast.enqueue(echo, 1, { delay: '1h' })
  const keyed = await holdfast.enqueue(echo, 2, { key: 'k' })

  expect(await keyed.result()).toBe(2)
  expect(await later.read()).toMatchObject({ state: 'pending', attempts: 0 })
  expect([...held.values()]).toEqual([false, false])
})

test('with directHandoff false every job is found by the ordinary claim', async () => {
  const holdfast = bench.open({ jobs: [echo], directHandoff: false })
  const held = heldLeases(holdfast)
  await holdfast.start()

  for (let n = 0; n < 5; n += 1) expect(await (await holdfast.enqueue(echo, n)).result()).toBe(n)

  expect([...held.values()]).toEqual([false, false, false, false, false])
})
