// The kit that applications test their jobs with.
import { afterEach, expect, test } from 'vitest'
import { defineJob, defineSchedule, type JobDefinition, snooze } from '../../src/index.js'
import { createTestHoldfast, type TestHoldfast, type TestHoldfastOptions } from '../../src/testing/test-holdfast.js'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function open<const Jobs extends readonly JobDefinition[]>(
  options: TestHoldfastOptions<Jobs>,
): Promise<TestHoldfast<Jobs>> {
  const holdfast = await createTestHoldfast(options)
  opened.push(holdfast)
  return holdfast
}

const mail = defineJob({ type: 'mail', run: ({ to }: { to: string; cc?: string[] }) => `sent to ${to}` })

test('nothing runs before drain, which runs what is due and what that enqueues', async () => {
  const welcome = defineJob({
    type: 'welcome',
    async run({ name }: { name: string }) {
      await holdfast.enqueue(mail, { to: name })
    },
  })
  const holdfast: TestHoldfast = await open({ jobs: [mail, welcome] })
  await holdfast.start()
  await holdfast.enqueue(welcome, { name: 'ada' })
  expect(await holdfast.finished(welcome)).toEqual([])

  const ran = await holdfast.drain()

  expect(ran.map(({ type, state }) => [type, state])).toEqual([
    ['welcome', 'completed'],
    ['mail', 'completed'],
  ])
  expect((await holdfast.finished(mail))[0]?.output).toBe('sent to ada')
  expect(await holdfast.drain()).toEqual([])
})

test('the clock stands still until it is moved, and a job of later runs when its time has come', async () => {
  const holdfast = await open({ jobs: [mail], now: '2020-02-29T12:00:00Z' })
  const handle = await holdfast.enqueue(mail, { to: 'ada' }, { delay: '1h' })
  expect((await handle.read()).createdAt).toEqual(new Date('2020-02-29T12:00:00Z'))

  await holdfast.clock.advance('59m')
  expect(await holdfast.drain()).toEqual([])
  await holdfast.clock.advance('1m')
  expect(await holdfast.drain()).toHaveLength(1)

  expect((await handle.read()).finishedAt).toEqual(new Date('2020-02-29T13:00:00Z'))
  expect(holdfast.clock.now).toEqual(new Date('2020-02-29T13:00:00Z'))
})

test('time goes forward only, and has a form', async () => {
  const holdfast = await open({ jobs: [mail], now: '2020-01-01T00:00:00Z' })

  await expect(holdfast.clock.to('2019-12-31T00:00:00Z')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  await expect(holdfast.clock.to('soon')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  expect(() => holdfast.clock.advance('soon' as '1s')).toThrow('duration')
})

test('a failed job waits for its next attempt, which comes with the clock', async () => {
  const flaky = defineJob({
    type: 'flaky',
    retry: { base: '10s', max: '10s' },
    run(_, { job }) {
      if (job.attempts < 3) throw new Error('not yet')
      return job.attempts
    },
  })
  const holdfast = await open({ jobs: [flaky] })
  const handle = await holdfast.enqueue(flaky, {})

  expect((await holdfast.drain()).map(({ state }) => state)).toEqual(['pending'])
  await holdfast.clock.advance('1m', { drain: true })

  expect(await handle.read()).toMatchObject({ state: 'completed', output: 3 })
})

test('schedules fire at each of their ticks as the clock passes them', async () => {
  const report = defineJob({ type: 'report', run: ({ day }: { day: string }) => day })
  const daily = defineSchedule({
    jobKey: 'daily',
    job: report,
    cron: '30 2 * * *',
    input: ({ tick }) => ({ day: tick.toISOString().slice(0, 10) }),
    overlap: 'allow',
  })
  const holdfast = await open({ jobs: [report], schedules: [daily], now: '2030-01-01T00:00:00Z' })

  await holdfast.clock.advance('3d')
  await holdfast.drain()

  expect((await holdfast.finished(report)).map(({ output }) => output)).toEqual([
    '2030-01-01',
    '2030-01-02',
    '2030-01-03',
  ])
})

test('with drain, jobs run as they become due, so that a schedule does not meet its last job', async () => {
  const hours: number[] = []
  const hourly = defineJob({ type: 'hourly', run: () => void hours.push(holdfast.clock.now.getUTCHours()) })
  const schedule = defineSchedule({ jobKey: 'hourly', job: hourly, every: '1h', overlap: 'skip' })
  const holdfast: TestHoldfast = await open({ jobs: [hourly], schedules: [schedule], now: '2030-01-01T00:30:00Z' })

  await holdfast.clock.advance('3h', { drain: true })

  expect(hours).toEqual([1, 2, 3])
})

test('a job that enqueues itself without end is told, not waited for', async () => {
  const loop = defineJob({ type: 'loop', run: () => snooze(0) })
  const holdfast = await open({ jobs: [loop] })
  await holdfast.enqueue(loop, {})

  await expect(holdfast.drain({ most: 20 })).rejects.toThrow('without end')
})

test('what was enqueued is found by type and a part of its input', async () => {
  const holdfast = await open({ jobs: [mail] })
  await holdfast.enqueue(mail, { to: 'ada', cc: ['grace'] })
  await holdfast.enqueue('mail', { to: 'grace' })

  expect(await holdfast.enqueued(mail)).toHaveLength(2)
  expect(await holdfast.enqueued('mail', { to: 'ada' })).toHaveLength(1)
  expect(await holdfast.enqueued(mail, { cc: ['grace'] })).toHaveLength(1)
  expect(await holdfast.enqueued(mail, { cc: [] })).toEqual([])
  expect(await holdfast.enqueued(mail, { to: (to: string) => to.startsWith('g') })).toHaveLength(1)
  await holdfast.expectEnqueued(mail, { to: 'ada' }, { times: 1 })
  await holdfast.expectEnqueued(mail, { to: 'nobody' }, { times: 0 })
})

test('an expectation that fails shows what there was', async () => {
  const holdfast = await open({ jobs: [mail] })
  await expect(holdfast.expectEnqueued(mail)).rejects.toThrow('there is none of its type')
  await holdfast.enqueue(mail, { to: 'ada' })

  await expect(holdfast.expectEnqueued(mail, { to: 'grace' })).rejects.toMatchObject({
    name: 'AssertionError',
    message:
      'expected at least one enqueued mail with an input that fits {"to":"grace"}, found 0; of its type there are:\n  1 pending {"to":"ada"}',
  })
  await expect(holdfast.expectFinished(mail)).rejects.toThrow('expected at least one completed mail')
  await holdfast.drain()
  await holdfast.expectFinished(mail, { to: 'ada' }, { times: 1 })
  await expect(holdfast.expectFinished(mail, undefined, { state: 'failed' })).rejects.toThrow(
    '1 completed {"to":"ada"}',
  )
})

test('each one has a database of its own, which holds the application’s tables too', async () => {
  const [one, two] = [await open({ jobs: [mail] }), await open({ jobs: [mail] })]
  await one.pglite.exec('create table account (id integer primary key)')
  await one.pglite.transaction((tx) => one.enqueue(mail, { to: 'ada' }, { tx }))

  expect(await one.enqueued(mail)).toHaveLength(1)
  expect(await two.enqueued(mail)).toEqual([])
})

test('what createHoldfast refuses is refused here', async () => {
  await expect(createTestHoldfast({ jobs: [], now: 'soon' })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  await expect(createTestHoldfast({ jobs: [mail, mail] })).rejects.toMatchObject({ code: 'DUPLICATE_TYPE' })
})
