// Which database a command means, and what it says when it cannot have it.
import { expect, onTestFinished, test } from 'vitest'
import { appFolder } from '../support/app-folder.js'
import { ask, askList } from '../support/ask.js'
import { holdfast } from '../support/command-line.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const NOWHERE = 'postgres://nobody:s3cret@127.0.0.1:1/none'
const LIST = ['queues', 'list']

test('the flag is stronger than HOLDFAST_DATABASE_URL, that than DATABASE_URL, that than the config', async () => {
  const cwd = await appFolder(`'${NOWHERE}'`)
  const own = db.whole.url

  expect(await holdfast(LIST, { cwd })).toMatchObject({ code: 3 })
  expect(await holdfast(LIST, { cwd, env: { DATABASE_URL: own } })).toMatchObject({ code: 0 })
  expect(await holdfast(LIST, { cwd, env: { DATABASE_URL: NOWHERE, HOLDFAST_DATABASE_URL: own } })).toMatchObject({
    code: 0,
  })
  expect(await holdfast([...LIST, '--database', own], { cwd, env: { HOLDFAST_DATABASE_URL: NOWHERE } })).toMatchObject({
    code: 0,
  })
})

test('the config is enough, also for an application’s own jobs', async () => {
  const cwd = await appFolder(`'${db.whole.url}'`)

  expect(await holdfast(LIST, { cwd })).toMatchObject({ code: 0 })
  expect(await holdfast(['run', 'greet', '--input', '{"name": "Ada"}'], { cwd })).toMatchObject({ code: 0 })
  expect(
    await holdfast(['run', 'greet', '--input', '{"name": "Ada"}'], { cwd, env: { DATABASE_URL: NOWHERE } }),
  ).toMatchObject({ code: 3 })
})

test('.env is read, and what the environment already says wins', async () => {
  const cwd = await appFolder('undefined', { '.env': `DATABASE_URL=${db.whole.url}\n` })

  expect(await holdfast(LIST, { cwd })).toMatchObject({ code: 0, stdout: 'no queue has jobs or workers\n' })
  expect(await holdfast(LIST, { cwd, env: { DATABASE_URL: NOWHERE } })).toMatchObject({ code: 3 })
})

test('a server that cannot be reached ends with 3, with code, fix and no password', async () => {
  const { code, stderr } = await holdfast([...LIST, '--database', NOWHERE])
  const { stderr: json } = await holdfast([...LIST, '--json', '--database', NOWHERE])

  expect(code).toBe(3)
  expect(stderr).toMatch(/^CONNECTION_FAILED: the database cannot be reached: .*ECONNREFUSED.*\n {2}fix: .+\n$/)
  expect(JSON.parse(json)).toMatchObject({ error: { code: 'CONNECTION_FAILED', fix: expect.any(String) } })
  expect(stderr + json).not.toContain('s3cret')
  for (const command of [['doctor'], ['migrate'], ['status'], ['jobs', 'list'], ['schedules', 'list'], ['bench']]) {
    expect(await holdfast([...command, '--database', NOWHERE])).toMatchObject({ code: 3, stdout: '' })
  }
})

test('a database without the schema ends with 4 and names the command', async () => {
  const { code, stderr } = await holdfast([...LIST, '--schema', 'absent', '--database', db.whole.url])

  expect(code).toBe(4)
  expect(stderr).toMatch(/^SCHEMA_MISSING: .*npx holdfast migrate --schema absent/)
})

test('wrong usage ends with 2: an unknown command, an unknown option, no database at all', async () => {
  expect(await holdfast(['fly'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/unknown command 'fly'/) })
  expect(await holdfast(['status', '--fast'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/unknown option '--fast'/),
  })
  expect(await holdfast(['jobs', 'show'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/missing required argument 'id'/),
  })
  expect(await holdfast(LIST, { cwd: '/' })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^INVALID_OPTION: which database/),
  })
  expect(await holdfast(['--help'])).toMatchObject({ code: 0 })
})

test('what is piped has no colours', async () => {
  const { stdout } = await holdfast(['doctor', '--database', db.whole.url])

  expect(stdout).toContain('ok')
  expect(stdout).not.toContain('\u001b')
})

test('migrate plans, checks, and then applies what is missing', async () => {
  const at = ['--schema', 'stepwise', '--database', db.whole.adminUrl]
  onTestFinished(async () => {
    await ask(db.admin, 'drop schema if exists stepwise cascade')
    for (const role of ['producer', 'worker', 'operator', 'viewer']) {
      await ask(db.admin, `drop role if exists stepwise_${role}`)
    }
  })

  expect(await holdfast(['migrate', '--plan', ...at])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/lacks 0001_initial/),
  })
  expect(await holdfast(['migrate', '--check', ...at])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^SCHEMA_OUTDATED/),
  })
  expect(await holdfast(['migrate', ...at])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^schema "stepwise" is at revision \d+; applied 0001_initial/),
  })
  expect(await holdfast(['migrate', '--check', ...at])).toMatchObject({
    code: 0,
    stdout: 'schema "stepwise" is up to date\n',
  })
  expect(await askList(db.admin, `select stepwise.enqueue('task', '{}')`)).toHaveLength(1)
  expect(await holdfast(['doctor', ...at])).toMatchObject({ code: 0 })
})
