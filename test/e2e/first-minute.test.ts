// The first minute of a newcomer: the packed package, an empty folder, `holdfast init`, `npm run dev`.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startCommand } from '../support/command-line.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const npm = (args: string[], cwd: string) => execFileSync('npm', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
let folder: string
let app: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-first-minute-'))
  app = join(folder, 'app')
  await mkdir(app)
  if (!existsSync(join(ROOT, 'dist/cli/main.js'))) npm(['run', 'build'], ROOT)
  npm(['pack', '--pack-destination', folder], ROOT)
  const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
  // What the packed package needs was installed for this project, so it is in the cache already.
  npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', join(folder, packed)], app)
}, 240_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

function start(program: string, ...args: string[]) {
  const command = startCommand(program, args, { cwd: app, env: { NO_COLOR: '1' } })
  onTestFinished(async () => {
    command.kill('SIGKILL')
    await command.ended
  })
  return command
}

test('init and dev lead to a job that ran, and a changed file is taken up', async () => {
  const init = await start('npx', '--no-install', 'holdfast', 'init', '--yes').ended
  expect(init).toMatchObject({ code: 0, stdout: expect.stringContaining('→ next: npm run dev') })

  const first = start('npm', 'run', 'dev')
  await first.says(/embedded PostgreSQL .* ready in .* 1 job \(hello\)/)
  first.type('hello {"name": "Ada"}')
  await first.says(/hello #\d+ completed in \d+ ms {"greeting":"Hello, Ada"}/)
  const source = await readFile(join(app, 'jobs/hello.ts'), 'utf8')
  await writeFile(join(app, 'jobs/hello.ts'), source.replace('Hello,', 'Welcome,'))
  await first.says(/reloaded: 1 job \(hello\)/)
  first.type('hello {"name": "Grace"}')
  await first.says(/{"greeting":"Welcome, Grace"}/)
  await writeFile(join(app, 'jobs/hello.ts'), 'export const hello = ;')
  await first.says(/the previous version of the jobs goes on running/)
  first.type('hello {"name": "Edsger"}')
  await first.says(/{"greeting":"Welcome, Edsger"}/)
  first.type('q')
  expect(await first.ended).toMatchObject({ code: 0 })

  await writeFile(join(app, 'jobs/hello.ts'), source)
  const second = start('npm', 'run', 'dev')
  await second.says(/ready in/)
  second.type('hello')
  await second.says(/{"greeting":"Hello, world"}/)
  second.type('q')
  expect(await second.ended).toMatchObject({ code: 0 })
})

test('init keeps every file that is there, and asks for nothing twice', async () => {
  await writeFile(join(app, 'holdfast.config.ts'), '// mine')

  const { code, stdout } = await start('npx', '--no-install', 'holdfast', 'init', '--yes', '--json').ended

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    written: [],
    kept: ['jobs/hello.ts', 'jobs/index.ts', 'holdfast.config.ts'],
    scripts: {},
    next: 'npm run dev',
  })
  expect(await readFile(join(app, 'holdfast.config.ts'), 'utf8')).toBe('// mine')
  expect((await readFile(join(app, '.gitignore'), 'utf8')).match(/\.holdfast/g)).toHaveLength(1)
})
