// Schedules from end to end: defined in code, changed at run time, fired by whichever worker looks first.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createHoldfast, defineJob, defineSchedule } from '../../src/index.js'
import { heard, useHoldfast } from '../support/holdfast.js'
import { useScheduling } from '../support/scheduler.js'

const bench = useHoldfast()
const scheduling = useScheduling(bench)
const report = defineJob({ type: 'report', run: (input: { day?: string; n?: number }) => input })
const at = (time: string) => `2026-03-02T${time}Z`
const HOURLY = { jobKey: 'hourly', job: report, cron: '0 * * * *' } as const
const jobs = () => bench.look('select id, type, queue, state, input, key, tags from holdfast.jobs order by id')

test('a tick makes one job with the input that its function computes, however many workers look', async () => {
  const hourly = defineSchedule({ ...HOURLY, input: ({ tick }) => ({ day: tick.toISOString() }), queue: 'bulk' })
  const one = await scheduling.open(at('08:30'), [hourly], [report])
  const two = await scheduling.open(at('08:30'), [hourly], [report])
  await scheduling.setClock(at('09:00:02'))

  await Promise.all([one.scheduler.runOnce(), two.scheduler.runOnce(), two.lookAt(at('09:00:03'))])

  expect(await jobs()).toMatchObject([{ input: { day: '2026-03-02T09:00:00.000Z' }, queue: 'bulk' }])
  expect([...one.fired, ...two.fired]).toHaveLength(1)
  expect(await one.holdfast.schedules.find('hourly')).toMatchObject({
    nextTick: new Date(at('10:00')),
    lastTick: new Date(at('09:00')),
    inputFromCode: true,
    fault: null,
  })
})

test.each([
  ['skip', []],
  ['last', ['11']],
  ['all', ['09', '10', '11']],
] as const)('after three hours without a worker, %s fires %j', async (missed, hours) => {
  const { lookAt, holdfast } = await scheduling.open(at('08:30'), [defineSchedule({ ...HOURLY, missed })], [report])

  await lookAt(at('11:30'))

  const ticks = await holdfast.schedules.ticks('hourly')
  const fired = ticks.filter(({ state }) => state === 'fired').map(({ tick }) => tick.toISOString().slice(11, 13))
  expect(fired.reverse()).toEqual(hours)
  expect(ticks).toHaveLength(3)
  expect(await jobs()).toHaveLength(hours.length)
  expect((await holdfast.schedules.find('hourly'))?.nextTick).toEqual(new Date(at('12:00')))
})

test('an input function that throws is a fault to be seen, the tick stays owed, and the others go on', async () => {
  let isBroken = true
  const broken = defineSchedule({
    ...HOURLY,
    jobKey: 'broken',
    input() {
      if (isBroken) throw new Error('no rates today')
      return { n: 1 }
    },
  })
  const { lookAt, faults, holdfast } = await scheduling.open(at('08:30'), [broken, defineSchedule(HOURLY)], [report])

  await lookAt(at('09:00:01'))

  expect(faults).toMatchObject([{ jobKey: 'broken', error: { message: 'no rates today' } }])
  expect(await holdfast.schedules.find('broken')).toMatchObject({
    nextTick: new Date(at('09:00')),
    fault: { times: 1, tick: new Date(at('09:00')), error: { message: 'no rates today' } },
  })
  expect(await jobs()).toHaveLength(1)

  isBroken = false
  await lookAt(at('09:00:10'))
  expect(await jobs()).toMatchObject([{ input: {} }, { input: { n: 1 } }])
  expect(await holdfast.schedules.find('broken')).toMatchObject({ fault: null, nextTick: new Date(at('10:00')) })
})

test('an input that does not fit the schema of its job is a fault', async () => {
  const strict = defineJob({ type: 'strict', input: z.object({ n: z.number() }), run: () => {} })
  const wrong = defineSchedule({ ...HOURLY, job: strict, input: () => ({ n: 'three' }) as never })
  const { lookAt, faults } = await scheduling.open(at('08:30'), [wrong], [strict])

  await lookAt(at('09:00'))

  expect(faults).toMatchObject([{ error: { code: 'INVALID_INPUT' } }])
  expect(await jobs()).toEqual([])
})

test('a pattern that only SQL has let in is a fault', async () => {
  const { lookAt, faults, holdfast } = await scheduling.open(at('08:30'), [], [report])
  await bench.look(`select holdfast.create_schedule('{"job_key": "odd", "type": "report", "cron": "99 * * * *"}')`)

  await lookAt(at('08:31'))

  expect(faults).toMatchObject([{ jobKey: 'odd', error: { code: 'INVALID_OPTION' } }])
  expect((await holdfast.schedules.find('odd'))?.fault?.error.message).toContain('99 * * * *')
})

test('a worker without the definition leaves a computed input to one that has it', async () => {
  const coded = defineSchedule({ ...HOURLY, input: () => ({ n: 1 }) })
  const knows = await scheduling.open(at('08:30'), [coded], [report])
  const lacks = await scheduling.open(at('08:30'), [], [report])

  await lacks.lookAt(at('09:00'))
  expect(await jobs()).toEqual([])
  await knows.lookAt(at('09:00'))
  expect(await jobs()).toHaveLength(1)
})

test('the key of the job is the key of each tick', async () => {
  const keyed = defineJob({ type: 'keyed', key: ({ n }: { n: number }) => ({ n }), run: () => {} })
  const computed = defineSchedule({ ...HOURLY, job: keyed, input: () => ({ n: 1 }) })
  const stored = defineSchedule({ ...HOURLY, jobKey: 'stored', job: keyed, input: { n: 2 } })
  const { lookAt } = await scheduling.open(at('08:30'), [computed, stored], [keyed])

  await lookAt(at('09:00'))

  expect((await jobs()).map(({ key }) => key).sort()).toEqual(['{"n":1}', '{"n":2}'])
})

test('start and end bound the ticks, and a schedule that is over says so', async () => {
  const bounded = defineSchedule({ ...HOURLY, startsAt: new Date(at('10:00')), endsAt: new Date(at('11:00')) })
  const { lookAt, holdfast } = await scheduling.open(at('08:30'), [bounded], [report])

  for (const time of ['09:00', '10:00', '11:00', '12:00']) await lookAt(at(time))

  expect(await jobs()).toHaveLength(1)
  expect(await holdfast.schedules.find('hourly')).toMatchObject({ isOver: true, nextTick: null })
})

describe('at run time', () => {
  test('a schedule is made, fired, changed and deleted', async () => {
    const { lookAt, holdfast } = await scheduling.open(at('08:30'), [], [report])
    const made = await holdfast.schedules.create({ jobKey: 'made', job: 'report', every: '15m', input: { n: 1 } })
    expect(made).toMatchObject({ everyMs: 900_000, code: null, isEdited: false, options: { queue: 'default' } })
    await lookAt(at('08:45'))
    await holdfast.schedules.update('made', { cron: '0 10 * * *', timezone: 'Europe/Berlin', input: { n: 2 } })
    await lookAt(at('08:50'))
    await lookAt(at('09:00'))

    expect((await jobs()).map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }])
    expect(await holdfast.schedules.list()).toMatchObject([{ jobKey: 'made', cron: '0 10 * * *', everyMs: null }])
    await holdfast.schedules.delete('made')
    expect(await holdfast.schedules.find('made')).toBeUndefined()
  })

  test("an operator's change is kept against code, shown as such, and given back", async () => {
    const hourly = defineSchedule(HOURLY)
    const { holdfast } = await scheduling.open(at('08:30'), [hourly], [report])
    await holdfast.schedules.update('hourly', { cron: '30 * * * *', window: '2h', endsAt: new Date(at('20:00')) })
    await scheduling.open(at('08:31'), [hourly], [report])

    expect(await holdfast.schedules.find('hourly')).toMatchObject({
      cron: '30 * * * *',
      windowMs: 7_200_000,
      isEdited: true,
      code: { cron: '0 * * * *', windowMs: 86_400_000, endsAt: null },
    })
    expect(await holdfast.schedules.update('hourly', { endsAt: null })).toMatchObject({ endsAt: null, isEdited: true })
    expect(await holdfast.schedules.update('hourly', null)).toMatchObject({ cron: '0 * * * *', isEdited: false })
  })

  test('a disabled schedule owes nothing for the time it was disabled', async () => {
    const { lookAt, holdfast } = await scheduling.open(at('08:30'), [defineSchedule(HOURLY)], [report])

    expect(await holdfast.schedules.disable('hourly')).toBe(true)
    await lookAt(at('11:30'))
    expect(await holdfast.schedules.enable('hourly')).toBe(true)
    await lookAt(at('11:31'))
    expect(await jobs()).toEqual([])
    await lookAt(at('12:00'))

    expect(await jobs()).toHaveLength(1)
  })

  test('the next tick can be skipped, a job made at once, and the past made up for', async () => {
    const computed = defineSchedule({ ...HOURLY, input: ({ tick }) => ({ day: tick.toISOString().slice(11, 16) }) })
    const { lookAt, holdfast } = await scheduling.open(at('08:30'), [computed], [report])
    const { schedules } = holdfast

    expect(await schedules.skipNext('hourly')).toEqual(new Date(at('09:00')))
    await lookAt(at('09:00'))
    await schedules.trigger('hourly')
    await schedules.trigger('hourly', { input: { day: 'by hand' } })
    const range = { from: new Date(at('07:00')), to: new Date(at('09:00')), actor: 'ada' }
    const made = await schedules.backfill('hourly', range)

    expect(made.map(({ tick }) => tick)).toEqual([new Date(at('07:00')), new Date(at('08:00'))])
    expect(await schedules.backfill('hourly', range)).toEqual([])
    expect((await jobs()).map(({ input }) => input.day)).toEqual(['09:00', 'by hand', '07:00', '08:00'])
  })

  test('a preview shows the ticks to come', async () => {
    const { holdfast } = await scheduling.open(at('08:30'), [defineSchedule(HOURLY)], [report])

    expect(await holdfast.schedules.preview('hourly', { limit: 2 })).toEqual([
      new Date(at('09:00')),
      new Date(at('10:00')),
    ])
    expect(
      await holdfast.schedules.preview(
        { cron: '30 2 * * *', timezone: 'Europe/Berlin', gap: 'skip' },
        { after: new Date('2026-03-28T12:00Z'), limit: 1 },
      ),
    ).toEqual([new Date('2026-03-30T00:30Z')])
  })

  test.each([
    ['a schedule that is not there', 'none', { missed: 'all' }, 'JOB_UNKNOWN'],
    ['a pattern that cannot be read', 'hourly', { cron: 'x * * * *' }, 'INVALID_OPTION'],
    ['an unknown policy', 'hourly', { overlap: 'perhaps' as 'skip' }, 'INVALID_OPTION'],
  ] as const)('an update with %s is refused', async (_what, key, changes, code) => {
    const { holdfast } = await scheduling.open(at('08:30'), [defineSchedule(HOURLY)], [report])

    await expect(holdfast.schedules.update(key, changes)).rejects.toMatchObject({ code })
  })

  test('a backfill of more than a thousand ticks is refused', async () => {
    const { holdfast } = await scheduling.open(
      at('08:30'),
      [defineSchedule({ ...HOURLY, cron: '* * * * *' })],
      [report],
    )
    const range = { from: new Date('2026-02-01T00:00Z'), to: new Date('2026-02-02T00:00Z') }

    await expect(holdfast.schedules.backfill('hourly', range)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('definitions', () => {
  test('a pattern that cannot be read is refused before anything is opened', () => {
    const never = defineSchedule({ ...HOURLY, cron: '0 0 30 2 *' })

    expect(() => createHoldfast({ database: 'memory://', jobs: [report], schedules: [never] })).toThrow(/cron/)
  })

  test('two definitions of one key are refused', () => {
    const schedules = [defineSchedule(HOURLY), defineSchedule({ ...HOURLY, cron: '5 * * * *' })]

    expect(() => createHoldfast({ database: 'memory://', jobs: [report], schedules })).toThrow(/hourly/)
  })

  test('an input that does not fit keeps the worker from starting', async () => {
    const strict = defineJob({ type: 'strict', input: z.object({ n: z.number() }), run: () => {} })
    const schedules = [defineSchedule({ ...HOURLY, job: strict, input: {} as never })]
    const holdfast = bench.open({ jobs: [strict], schedules })

    await expect(holdfast.start()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

test('a started Holdfast fires and runs what its schedules ask for', async () => {
  const often = defineSchedule({ jobKey: 'often', job: report, every: '1s', input: { n: 7 } })
  const holdfast = bench.open({ jobs: [report], schedules: [often] })
  const fired = heard(holdfast, 'schedule.fired', ({ ids }) => ids.length > 0)
  const completed = heard(holdfast, 'job.completed')

  await holdfast.start()

  expect(await fired).toMatchObject({ jobKey: 'often', ticks: [{ state: 'fired' }] })
  expect(await completed).toMatchObject({ type: 'report' })
})
