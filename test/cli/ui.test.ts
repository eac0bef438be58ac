// holdfast ui: the HTTP API on a database that already has jobs.
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdfast, startHoldfast } from '../support/command-line.js'
import { givenIn } from '../support/given.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const TOKEN = 'a-long-secret-of-one-operator'

/** Starts the command and gives its address once it has told it; ended with the test. */
async function ui(...args: string[]): Promise<string> {
  const child = startHoldfast(['ui', '--json', '--port', '0', '--database', db.whole.url, ...args])
  onTestFinished(async () => {
    child.kill()
    await child.ended
  })
  return (JSON.parse(await child.says(/\n$/)) as { url: string }).url
}

test('serves the jobs of an existing database to this machine', async () => {
  const id = await givenIn(db.pool).pendingJob({ type: 'mail' })

  const url = await ui()
  const page = await (await fetch(`${url}/api/jobs`)).json()

  expect(page).toMatchObject({ rows: [{ id, type: 'mail', state: 'pending' }] })
})

test('with tokens only their bearers are let in', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-ui-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'tokens.json')
  const sha256 = createHash('sha256').update(TOKEN).digest('hex')
  await writeFile(file, JSON.stringify([{ name: 'ops', sha256, permissions: ['view'] }]))

  const url = await ui('--tokens', file)
  const ask = (token: string) => fetch(`${url}/api/jobs`, { headers: { authorization: `Bearer ${token}` } })

  expect((await fetch(`${url}/api/jobs`)).status).toBe(401)
  expect((await ask('another-long-secret-that-is-wrong')).status).toBe(401)
  expect((await ask(TOKEN)).status).toBe(200)
})

test('an address that others can reach is refused without tokens', async () => {
  const { code, stderr } = await holdfast(['ui', '--host', '0.0.0.0', '--port', '0', '--database', db.whole.url])

  expect(code).not.toBe(0)
  expect(stderr).toMatch(/AUTH_REQUIRED/)
})

test.each([
  [['--port', 'http'], /--port/],
  [['--tokens', '/nowhere/tokens.json'], /--tokens/],
])('%j is refused as usage', async (args, message) => {
  expect(await holdfast(['ui', ...args, '--database', db.whole.url])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(message),
  })
})
