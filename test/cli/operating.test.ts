// The commands of an operator: what they print, what they do, and how they end.
import { expect, test } from 'vitest'
import { createHoldfast, defineJob } from '../../src/index.js'
import { appFolder } from '../support/app-folder.js'
import { ask, askValue } from '../support/ask.js'
import { holdfast } from '../support/command-line.js'
import { givenIn } from '../support/given.js'
import { until } from '../support/holdfast.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const run = (...args: string[]) => holdfast([...args, '--database', db.whole.url])
const stateOf = (id: string) => askValue(db.admin, 'select state from holdfast.jobs where id = $1', [id])

test('jobs are listed newest first, as lines or as JSON, and narrowed by a filter', async () => {
  const given = givenIn(db.pool)
  const { job_id: failed } = await given.finishedJob('failed', { type: 'csv' })
  const pending = await given.pendingJob({ type: 'mail' })

  const lines = (await run('jobs', 'list')).stdout.trimEnd().split('\n')
  const { stdout } = await run('jobs', 'list', 'state:failed', '--json')
  const nothing = await run('jobs', 'list', 'type:nothing', 'since:24h')

  expect(lines.map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
    ['id', 'type', 'queue', 'state'],
    [pending, 'mail', 'default', 'pending'],
    [failed, 'csv', 'default', 'failed'],
  ])
  expect(JSON.parse(stdout)).toMatchObject({ rows: [{ id: failed, state: 'failed', type: 'csv' }], next: null })
  expect(nothing).toMatchObject({ code: 0, stdout: 'no job fits\n' })
  expect(await run('jobs', 'list', 'state:lost')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/INVALID_OPTION: .*lost/),
  })
  expect(await run('jobs', 'list', '--limit', '0')).toMatchObject({ code: 2 })
})

test('a job is shown with all that is known of it, and one that is not there ends with 1', async () => {
  const id = await givenIn(db.pool).pendingJob({ type: 'mail', input: { to: 'ada' }, tags: ['vip'] })

  const { stdout } = await run('jobs', 'show', id)
  const missing = await run('jobs', 'show', '999999', '--json')

  expect(stdout).toMatch(/^job \d+: no worker is alive\n/)
  expect(stdout).toMatch(/^type +mail$/m)
  expect(stdout).toMatch(/^input +{"to":"ada"}$/m)
  expect(JSON.parse((await run('jobs', 'show', id, '--json')).stdout)).toMatchObject({ id, tags: ['vip'], logs: [] })
  expect(missing.code).toBe(1)
  expect(JSON.parse(missing.stderr)).toEqual({
    error: {
      code: 'JOB_NOT_FOUND',
      message: 'there is no job 999999',
      fix: expect.stringContaining('holdfast jobs list'),
      details: { jobId: '999999' },
    },
  })
})

test('jobs are cancelled, retried and recovered, each on its own', async () => {
  const given = givenIn(db.pool)
  const pending = await given.pendingJob()
  const { job_id: running } = await given.runningJob()

  const cancelled = await run('jobs', 'cancel', pending, '999999', '--reason', 'not needed')
  const retried = await run('jobs', 'retry', pending)
  const fresh = await run('jobs', 'recover', running)
  const stale = await run('jobs', 'recover', running, '--stale', '0ms')

  expect(cancelled).toMatchObject({
    code: 1,
    stdout: `job ${pending} cancelled\nJOB_NOT_FOUND: there is no job 999999\n`,
  })
  expect(retried).toMatchObject({ code: 0, stdout: `job ${pending} retried\n` })
  expect(fresh).toMatchObject({ code: 1, stderr: expect.stringMatching(/^NOT_STALE: .*\n {2}fix: /) })
  expect(stale).toMatchObject({ code: 0, stdout: `job ${running} recovered\n` })
  expect([await stateOf(pending), await stateOf(running)]).toEqual(['pending', 'pending'])
})

test('queues are listed, paused and resumed; status shows them beside the workers', async () => {
  await givenIn(db.pool).pendingJob({ queue: 'bulk' })
  await ask(db.pool, `select holdfast.register_worker_v1('pod/1', 'pod', 1, '1.2.3', '{mail}', '{task}', 4)`)

  expect((await run('queues', 'pause', 'bulk')).stdout).toBe('queue bulk paused\n')
  expect((await run('queues', 'pause', 'bulk')).stdout).toBe('queue bulk was paused already\n')
  expect((await run('queues', 'list')).stdout).toMatch(/^bulk +1 +1 +.* ago +0 +0 +.* ago by /m)
  expect((await run('queues', 'resume', 'bulk', '--json')).stdout).toBe('{"queue":"bulk","changed":true}\n')
  expect((await run('status')).stdout).toMatch(/^pod\/1 +1\.2\.3 +mail +4 +/m)
  expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({
    queues: [{ name: 'bulk', due: { count: 1, isCapped: false }, pausedAt: null }, { name: 'mail' }],
    workers: [{ id: 'pod/1', isAlone: false }],
  })
})

test('schedules are listed, previewed, switched, and triggered with the input that code computes', async () => {
  const folder = await appFolder(`'${db.whole.url}'`)
  const here = (...args: string[]) => holdfast(args, { cwd: folder })
  await using worker = createHoldfast({ database: db.whole.url, jobs: [], queues: ['elsewhere'] })
  await worker.schedules.create({ jobKey: 'hourly', job: 'greet', cron: '0 * * * *', input: { name: 'stored' } })

  expect((await here('schedules', 'list')).stdout).toMatch(/^hourly +greet +0 \* \* \* \* +UTC/m)
  expect((await here('schedules', 'next', 'hourly', '--limit', '3')).stdout).toMatch(/^(\S+:00:00\.000Z\n){3}$/)
  expect((await here('schedules', 'disable', 'hourly')).stdout).toBe('schedule hourly disabled\n')
  expect((await here('schedules', 'disable', 'hourly')).stdout).toBe('schedule hourly was disabled already\n')
  expect((await here('schedules', 'enable', 'hourly')).stdout).toBe('schedule hourly enabled\n')
  const { stdout } = await here('schedules', 'trigger', 'hourly', '--json')
  expect(await stateOf(JSON.parse(stdout).id)).toBe('pending')
  expect(await here('schedules', 'trigger', 'weekly')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^JOB_UNKNOWN/),
  })
})

test('run enqueues what the application defines, and waits for its outcome', async () => {
  const folder = await appFolder(`'${db.whole.url}'`)
  const here = (...args: string[]) => holdfast(['run', ...args], { cwd: folder })

  const enqueued = await here('greet', '--input', '{"name": "Ada"}', '--json')
  const done = await here('greet', '--input', '{"name": "Grace"}', '--wait', '--here')
  const broken = await here('break', '--wait', '--here')

  expect(await stateOf(JSON.parse(enqueued.stdout).id)).toBe('pending')
  expect(done).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^job \d+ completed: {"greeting":"Hello, Grace"}\n$/),
  })
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringMatching(/^JOB_FAILED: .*out of luck/) })
  expect(await here('greet')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^INVALID_INPUT: .*name must be a text/),
  })
  expect(await here('greet', '--input', '{')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^INVALID_OPTION: --input must be JSON/),
  })
  expect(await here('shout')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^UNKNOWN_TYPE/) })
})

test('run waits for a worker elsewhere, and no longer than it is told', async () => {
  const folder = await appFolder(`'${db.whole.url}'`)
  const late = await holdfast(['run', 'greet', '--input', '{"name": "Ada"}', '--wait', '--timeout', '50ms'], {
    cwd: folder,
  })
  expect(late).toMatchObject({ code: 1, stderr: expect.stringMatching(/^RESULT_TIMEOUT/) })

  const greet = defineJob({ type: 'greet', run: async () => 'from elsewhere' })
  await using worker = createHoldfast({ database: db.whole.url, jobs: [greet], grace: 0 })
  await worker.start()
  const done = await holdfast(['run', 'greet', '--input', '{"name": "Ada"}', '--wait'], { cwd: folder })

  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/completed: "from elsewhere"/) })
  await until(async () => (await ask(db.admin, 'select from holdfast.ready')).length === 0)
})

test('bench measures and leaves nothing pending', async () => {
  const { code, stdout } = await run('bench', '--jobs', '200', '--batch', '100', '--json')

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    jobs: 200,
    enqueuedPerSecond: expect.any(Number),
    ranPerSecond: expect.any(Number),
  })
  expect(await askValue(db.admin, 'select count(*)::int from holdfast.ready')).toBe(0)
})
