// Writes the parts of the docs that the source already says: states, errors, SQL functions, CLI help, the HTTP contract. Each
// stands in its page between "<!-- generated: name -->" and "<!-- end: name -->"; the rest of a page is written by hand. Only the
// OpenAPI document is a whole file.
// Needs a current dist/. --check changes nothing and fails when a page differs from its source.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ERRORS } from '../dist/domain/error/errors.js'
import { drawDiagram, drawMatrix, TRANSITIONS } from '../dist/domain/job/transitions.js'
import { createHttpApi } from '../dist/http/index.js'
import { createHoldfast } from '../dist/index.js'
import { readGrants, readSqlContracts } from './sql-contracts.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const contracts = readSqlContracts(ROOT)
const roles = readGrants(ROOT)
const openApi = await readOpenApi()

// Each command with its inner ones.
const COMMANDS = {
  init: [],
  dev: [],
  worker: [],
  migrate: [],
  status: [],
  doctor: [],
  run: [],
  jobs: ['list', 'show', 'retry', 'cancel', 'recover'],
  queues: ['list', 'pause', 'resume'],
  schedules: ['list', 'next', 'trigger', 'enable', 'disable'],
  ui: [],
  bench: [],
}

const helps = await readHelps()

const REGIONS = [
  { file: 'docs/reference/states.md', name: 'diagram', make: diagram },
  { file: 'docs/reference/states.md', name: 'matrix', make: drawMatrix },
  { file: 'docs/reference/states.md', name: 'transitions', make: transitionTable },
  { file: 'docs/reference/errors.md', name: 'errors', make: errorTable },
  { file: 'docs/reference/sql.md', name: 'callable', make: () => entries(isCallable) },
  { file: 'docs/reference/sql.md', name: 'inner', make: () => entries((contract) => !isCallable(contract)) },
  ...Object.keys(COMMANDS).map((name) => ({ file: 'docs/reference/cli.md', name, make: () => helps[name] })),
  { file: 'docs/reference/http.md', name: 'endpoints', make: endpointTable },
  { file: 'sql/README.md', name: 'diagram', make: diagram },
  { file: 'sql/README.md', name: 'functions', make: functionTable },
  { file: 'sql/README.md', name: 'sqlstates', make: sqlstateTable },
]

const WHOLE = { 'docs/reference/openapi.json': () => `${JSON.stringify(openApi, null, 2)}\n` }

const check = process.argv.includes('--check')
const stale = []
for (const file of new Set([...REGIONS.map((region) => region.file), ...Object.keys(WHOLE)])) {
  const path = join(ROOT, file)
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const after = WHOLE[file]?.() ?? REGIONS.filter((region) => region.file === file).reduce(withRegion, before)
  if (after === before) continue
  stale.push(file)
  if (!check) writeFileSync(path, after)
}
for (const file of stale) console.log(`${check ? 'differs from its source' : 'written'}: ${file}`)
if (check && stale.length > 0) console.log('accept with: npm run docs')
process.exitCode = check && stale.length > 0 ? 1 : 0

function withRegion(text, { file, name, make }) {
  const [open, close] = [`<!-- generated: ${name} -->\n`, `<!-- end: ${name} -->`]
  const [start, end] = [text.indexOf(open), text.indexOf(close)]
  if (start === -1 || end < start) throw new Error(`${file} has no place for "${name}"`)
  return `${text.slice(0, start)}${open}\n${make().trimEnd()}\n\n${text.slice(end)}`
}

function diagram() {
  return `\`\`\`mermaid\n${drawDiagram()}\`\`\``
}

function transitionTable() {
  const targets = (to) => (typeof to === 'string' ? to : to.join(' or '))
  return table(
    ['operation', 'from', 'to', 'note'],
    TRANSITIONS.map(({ operation, from, to, note }) => [operation, from, targets(to), note]),
  )
}

function errorTable() {
  return table(
    ['code', 'meaning', 'SQLSTATE', 'HTTP', 'exit'],
    Object.entries(ERRORS).map(([code, { text, sqlstate, http, exit }]) => [
      `\`${code}\``,
      text,
      sqlstate ?? '–',
      http,
      exit,
    ]),
  )
}

function sqlstateTable() {
  return table(
    ['SQLSTATE', 'code', 'meaning'],
    Object.entries(ERRORS)
      .filter(([, { sqlstate }]) => sqlstate !== null)
      .map(([code, { sqlstate, text }]) => [sqlstate, `\`${code}\``, text]),
  )
}

/** Asked of the API itself, as anyone would; no database is opened for it. */
async function readOpenApi() {
  const holdfast = createHoldfast({ jobs: [] })
  const api = createHttpApi(holdfast, { auth: () => ({ name: 'docs', permissions: [] }) })
  return (await api.fetch(new Request('http://localhost/openapi.json'))).json()
}

function endpointTable() {
  const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
  return table(
    ['request', 'what it does', 'part'],
    operations.map(({ method, path, summary, tags }) => [
      `\`${method.toUpperCase()} ${path}\``,
      summary,
      tags.join(', '),
    ]),
  )
}

function functionTable() {
  return table(
    ['function', 'what it does', 'who may call it'],
    contracts.map(({ folder, name, names, does }) => [
      `[${namesToCall(name, names).map(code).join(' ')}](functions/${folder}/${name}.sql)`,
      does,
      callers(name, names),
    ]),
  )
}

/** A file may hold several operations of one kind; each has its name in the table. */
function namesToCall(name, names) {
  return [name, ...names.filter((other) => other !== name && other in roles)]
}

function code(name) {
  return `\`${name}\``
}

function entries(isWanted) {
  return contracts.filter(isWanted).map(entry).join('\n')
}

function entry({ name, names, does, signatures, lines }) {
  const shown = signatures.map((signature) => signature.replaceAll('holdfast.', ''))
  const facts = lines.map(({ word, text }) => `- **${word}** ${text}`)
  const who = isCallable({ name }) ? [`- **Callers** ${callers(name, names)}`] : []
  return [`### ${name}`, '', does, '', '```sql', ...shown, '```', '', ...facts, ...who, ''].join('\n')
}

function isCallable({ name }) {
  return name in roles
}

/** The callers of the file's first operation, and of the others those that have other ones. */
function callers(name, names) {
  const own = rolesOf(name)
  const others = namesToCall(name, names).filter((other) => rolesOf(other) !== own)
  return [own, ...others.map((other) => `${code(other)}: ${rolesOf(other)}`)].join('; ')
}

function rolesOf(name) {
  return roles[name]?.join(', ') ?? 'inner'
}

/** The text of `--help` by command, with those of its inner ones. */
async function readHelps() {
  const main = join(ROOT, 'dist', 'cli', 'main.js')
  const ask = async (path) => (await promisify(execFile)(process.execPath, [main, ...path, '--help'])).stdout
  const helps = Object.entries(COMMANDS).map(async ([name, inner]) => {
    const paths = inner.length === 0 ? [[name]] : inner.map((operation) => [name, operation])
    return [name, (await Promise.all(paths.map(ask))).map((text) => `\`\`\`text\n${text}\`\`\``).join('\n\n')]
  })
  return Object.fromEntries(await Promise.all(helps))
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}
