// The example as a user runs it: the built package, in a folder of its own, with nothing installed beside it.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  if (!existsSync(join(ROOT, 'dist/index.js'))) execFileSync('npm', ['run', 'build'], { cwd: ROOT })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the example runs its jobs, shows each transition, and ends by itself', async () => {
  const { DATABASE_URL: _, ...env } = process.env
  const example = join(ROOT, 'examples/hello/main.mjs')

  const { stdout } = await promisify(execFile)(process.execPath, [example, '--once'], { cwd: folder, env })

  const transitions = stdout
    .split('\n')
    .filter((line) => line.includes(' → '))
    .map((line) => line.replace(/^\S+ +#\d+ /, '').replace(/ in [\d.]+ ms$/, ''))
  expect(transitions.filter((line) => line.startsWith('flaky_fetch'))).toEqual([
    'flaky_fetch (attempt 1) pending → running',
    'flaky_fetch (attempt 1) running → pending: https://example.org/rates did not answer',
    'flaky_fetch (attempt 2) pending → running',
    'flaky_fetch (attempt 2) running → completed',
  ])
  expect(transitions.filter((line) => line.startsWith('greet')).sort()).toEqual([
    'greet (attempt 1) pending → running',
    'greet (attempt 1) pending → running',
    'greet (attempt 1) running → completed',
    'greet (attempt 1) running → completed',
  ])
  expect(stdout).toContain('no DATABASE_URL: embedded PostgreSQL in this process')
  expect(stdout).toContain(`gave { greeting: 'Hello, Ada' }`)
  expect(stdout).toContain('gave { status: 200, attempts: 2 }')
  expect(stdout).toContain('gave { rows: 1000 }')
  expect(stdout.trimEnd().endsWith('4 jobs completed')).toBe(true)
  expect(await readdir(folder)).toEqual([])
})

test('the example of a pipeline prints what its steps came to, and ends by itself', async () => {
  const { DATABASE_URL: _, ...env } = process.env
  const example = join(ROOT, 'examples/pipeline/main.mjs')

  const { stdout } = await promisify(execFile)(process.execPath, [example], { cwd: folder, env })

  expect(stdout.match(/convert completed/g)).toHaveLength(3)
  expect(stdout).toContain('10 USD: 9.00 EUR, 8.00 GBP, 1500.00 JPY')
  expect(stdout).toContain('total: 5')
})
