// holdfast init: a first job, a configuration and the scripts to run them. Never overwrites a file.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { HoldfastError } from '../../domain/error/errors.js'
import { type Package, type Starter, starterFiles, withScripts } from '../starter-files.js'
import { paint, print } from '../terminal.js'

interface InitFlags {
  readonly yes?: boolean
  readonly js?: boolean
  readonly folder?: string
  readonly install: boolean
  readonly json?: boolean
}

export function addInit(program: Command, version: string): void {
  program
    .command('init')
    .description('write a first job, a configuration and scripts into this folder')
    .option('--yes', 'ask nothing, take the defaults')
    .option('--js', 'JavaScript instead of TypeScript')
    .option('--folder <name>', 'where the jobs live (default: jobs)')
    .option('--no-install', 'do not install the package holdfast where it is missing')
    .option('--json', 'print JSON')
    .action((flags: InitFlags) => runInit(flags, version))
}

async function runInit(flags: InitFlags, version: string): Promise<void> {
  const isAsking = !flags.yes && !flags.json && process.stdin.isTTY && process.stdout.isTTY
  const answers = isAsking ? await ask(flags) : defaults(flags)
  if (!answers) return
  const [written, kept] = await writeStarter(answers)
  const added = await writePackage()
  await ignoreData()
  const isInstalled = ensureInstalled(flags, version)
  const start = Object.entries(added.scripts).find(([, command]) => command === 'holdfast dev')?.[0]
  const next = `npm run ${start ?? 'dev'}`
  print(flags, { written, kept, scripts: added.added, isInstalled, next }, () =>
    [
      ...written.map((file) => `${paint('green', '✓')} wrote ${file}`),
      ...kept.map((file) => `${paint('yellow', '–')} kept ${file}, which was there`),
      ...Object.entries(added.added).map(
        ([name, command]) => `${paint('green', '✓')} added script ${name}: ${command}`,
      ),
      ...(isInstalled ? [] : [`${paint('yellow', '!')} install the package: npm install holdfast`]),
      `→ next: ${next}`,
    ].join('\n'),
  )
}

function defaults({ js, folder }: InitFlags): Starter {
  return { isTypeScript: !js, folder: checkFolder(folder ?? 'jobs') }
}

/** Asks at most two questions; undefined when the user cancels. */
async function ask(flags: InitFlags): Promise<Starter | undefined> {
  const { intro, isCancel, select, text } = await import('@clack/prompts')
  intro('holdfast')
  const language = flags.js
    ? 'js'
    : await select({
        message: 'Which language are your jobs written in?',
        options: [
          { value: 'ts', label: 'TypeScript' },
          { value: 'js', label: 'JavaScript' },
        ],
      })
  if (isCancel(language)) return undefined
  const folder =
    flags.folder ?? (await text({ message: 'In which folder?', defaultValue: 'jobs', placeholder: 'jobs' }))
  if (isCancel(folder)) return undefined
  return { isTypeScript: language === 'ts', folder: checkFolder(folder) }
}

function checkFolder(folder: string): string {
  if (/^[\w-]+(\/[\w-]+)*$/.test(folder)) return folder
  throw new HoldfastError('INVALID_OPTION', `--folder must be a path inside this folder like src/jobs, not ${folder}`)
}

async function writeStarter(starter: Starter): Promise<[written: string[], kept: string[]]> {
  const [written, kept]: [string[], string[]] = [[], []]
  for (const [file, text] of Object.entries(starterFiles(starter))) {
    await mkdir(dirname(resolve(file)), { recursive: true })
    // wx: a file that exists is kept.
    const isNew = await writeFile(file, text, { flag: 'wx' }).then(
      () => true,
      (error) => {
        if (error.code !== 'EEXIST') throw error
        return false
      },
    )
    ;(isNew ? written : kept).push(file)
  }
  return [written, kept]
}

async function writePackage(): Promise<{ added: Record<string, string>; scripts: Record<string, string> }> {
  const file = resolve('package.json')
  const before: Package = existsSync(file)
    ? readPackage(await readFile(file, 'utf8'))
    : {
        name:
          basename(resolve('.'))
            .toLowerCase()
            .replace(/[^a-z0-9-]+/g, '-') || 'jobs',
        private: true,
        type: 'module',
      }
  const { after, added } = withScripts(before)
  if (!existsSync(file) || Object.keys(added).length > 0) await writeFile(file, `${JSON.stringify(after, null, 2)}\n`)
  return { added, scripts: after.scripts ?? {} }
}

function readPackage(text: string): Package {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new HoldfastError('INVALID_OPTION', 'package.json is no JSON: repair it first', { cause: error })
  }
}

const IGNORED = '.holdfast/'

async function ignoreData(): Promise<void> {
  const text = existsSync('.gitignore') ? await readFile('.gitignore', 'utf8') : ''
  if (text.split('\n').some((line) => line.trim() === IGNORED)) return
  await appendFile('.gitignore', `${text === '' || text.endsWith('\n') ? '' : '\n'}${IGNORED}\n`)
}

/** npx keeps the package elsewhere; the scripts need it in this folder. */
function ensureInstalled({ install, json }: InitFlags, version: string): boolean {
  if (isInstalledHere()) return true
  if (!install) return false
  const manager = /^(pnpm|yarn|bun)\//.exec(process.env.npm_config_user_agent ?? '')?.[1] ?? 'npm'
  try {
    const args = [manager === 'npm' ? 'install' : 'add', `holdfast@^${version}`]
    execFileSync(manager, args, { stdio: ['ignore', json ? 'ignore' : 'inherit', 'inherit'] })
    return true
  } catch {
    return false
  }
}

function isInstalledHere(): boolean {
  try {
    createRequire(join(resolve('.'), 'package.json')).resolve('holdfast/package.json')
    return true
  } catch {
    return false
  }
}
