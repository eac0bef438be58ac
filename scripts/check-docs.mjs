// Checks the written docs: README's code is the marked region of its example, every relative link leads to a file, docs/README.md
// lists every page, and the pages about the code name files that exist.
// --run also runs the samples: all "```js run" blocks of a page are one program, with DATABASE_URL naming a fresh database of
// its own; it passes when it ends with 0. --show prints what they print. Needs a current dist/.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbeddedPostgres } from './embedded-postgres.mjs'
import { openHouse } from './house/files.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const house = openHouse({ write: false })
const pages = house.files.filter((path) => path.endsWith('.md'))
const problems = [
  ...readmeProblems(),
  ...unlistedPages(),
  ...pages.flatMap(linkProblems),
  ...pages.filter(isAboutCode).flatMap(fileProblems),
]
if (process.argv.includes('--run')) problems.push(...(await sampleProblems()))

for (const problem of problems) console.log(problem)
console.log(`${pages.length} pages, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function readmeProblems() {
  const example = 'examples/readme/main.mjs'
  const region = /\/\/ README begins\n([\s\S]*?)\/\/ README ends/.exec(house.text(example))?.[1]?.trim()
  const shown = blocks('README.md', 'js')[0]?.trim()
  if (region === undefined) return [`${example}: no region "README begins" … "README ends"`]
  return shown === region ? [] : [`README.md: its first js block differs from the region of ${example}`]
}

function unlistedPages() {
  const list = house.text('docs/README.md')
  return pages
    .filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
    .filter((page) => !list.includes(`](${page.slice('docs/'.length)})`))
    .map((page) => `docs/README.md does not list ${page}`)
}

function linkProblems(page) {
  const prose = house.text(page).replace(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1])
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !leadsSomewhere(page, target))
    .map((target) => `${page}: ${target} leads nowhere`)
}

function leadsSomewhere(page, target) {
  const [file, anchor] = target.split('#')
  const path = file === '' ? page : join(dirname(page), file)
  if (!existsSync(join(ROOT, path))) return false
  return anchor === undefined || anchors(path).has(anchor)
}

function anchors(path) {
  const headings = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^#+ (.*)$/gm)].map((match) => match[1])
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function isAboutCode(page) {
  return /^(?:ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/(?:internals|decisions)\//.test(page)
}

function fileProblems(page) {
  return [...house.text(page).matchAll(/[\w/.<>-]+\.(?:ts|mjs|sql)\b/g)]
    .map((match) => match[0])
    .filter((name) => !/[<>]|NNNN/.test(name))
    .filter(
      (name) => !house.files.some((path) => path === name || path.endsWith(`/${name.replace(/^(?:\.\.\/)+/, '')}`)),
    )
    .map((name) => `${page}: there is no file ${name}`)
}

function blocks(page, info) {
  const fences = house.text(page).matchAll(/^```([^\n]*)\n([\s\S]*?)^```/gm)
  return [...fences].filter((fence) => fence[1] === info).map((fence) => fence[2])
}

async function sampleProblems() {
  const server = await startEmbeddedPostgres()
  // Inside the package, so that a sample finds it by its name; git ignores the place.
  await mkdir(join(ROOT, '.holdfast'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.holdfast', 'samples-'))
  const found = []
  try {
    for (const page of pages) {
      const code = blocks(page, 'js run').join('\n')
      if (code === '') continue
      const file = join(folder, `${page.replace(/\W/g, '-')}.mjs`)
      await writeFile(file, code)
      const { exit, output } = await run(file, await freshDatabase(server.url, page))
      console.log(`${exit === 0 ? 'ran ' : 'FAIL'}  ${page}`)
      if (exit !== 0) found.push(`${page}: its samples ended with ${exit}\n${output}`)
      else if (process.argv.includes('--show')) console.log(output.trimEnd().replace(/^/gm, '        '))
    }
  } finally {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
  return found
}

async function freshDatabase(url, page) {
  const name = `docs_${page.replace(/\W/g, '_').toLowerCase()}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create database ${pg.escapeIdentifier(name)}`)
  await client.end()
  return url.replace(/\/postgres$/, `/${name}`)
}

function run(file, database) {
  return new Promise((resolve) => {
    const env = { ...process.env, DATABASE_URL: database }
    const child = spawn(process.execPath, [file], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    child.on('close', (exit) => resolve({ exit, output }))
  })
}
