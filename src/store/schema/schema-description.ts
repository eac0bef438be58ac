// The elements of a schema (tables, columns, constraints, indexes, functions): as this program creates them, and as they are.

import { readFile } from 'node:fs/promises'
import { quoteIdentifier } from '../../domain/value/schema-name.js'
import type { Database } from '../connection/connection.js'
import { inSchema, readFunctionTexts, SQL_FOLDER } from './sql-files.js'

export interface SchemaElement {
  readonly kind: 'table' | 'column' | 'constraint' | 'index' | 'view column' | 'function'
  /** What it belongs to; of a function its own name. */
  readonly owner: string
  readonly name: string
  /** The rest of its line, with the schema's default name. */
  readonly text: string
  /** Of a function: the roles that may call it. */
  readonly grantees: readonly string[]
}

export interface FunctionBody {
  readonly name: string
  readonly body: string
  /** The whole file, which repairs it. */
  readonly file: string
}

// As sql/schema-dump.sql prints an empty list.
const NO_GRANTEES = 'nobody'

/** What a fresh installation has. */
export async function freshElements(): Promise<SchemaElement[]> {
  return parseElements((await readFile(new URL('schema.snapshot.txt', SQL_FOLDER), 'utf8')).split('\n'))
}

/** What this database has, under the schema's default name. */
export async function liveElements(database: Database, schema: string): Promise<SchemaElement[]> {
  const text = inSchema(await readFile(new URL('schema-dump.sql', SQL_FOLDER), 'utf8'), schema)
  const lines = await database.transaction(async (tx) => {
    // Names are printed with their schema only if they would not be found without.
    await tx.query('set local search_path = pg_catalog')
    const { rows } = await tx.query('select quote_ident($1) as own', [schema])
    const own = String(rows[0]?.own)
    return (await tx.query(text)).rows.map(({ line }) =>
      String(line).replaceAll(`${own}.`, 'holdfast.').replaceAll(`${schema}_`, 'holdfast_'),
    )
  })
  return parseElements(lines)
}

/** The bodies of this program's functions, as the database stores them when they are unchanged. */
export async function freshBodies(schema: string): Promise<FunctionBody[]> {
  const texts = await readFunctionTexts(schema)
  const open = `create or replace function ${schema === 'holdfast' ? 'holdfast' : quoteIdentifier(schema)}.`
  return texts.flatMap((file) =>
    file
      .split(open)
      .slice(1)
      .map((part) => ({ name: /^\w+/.exec(part)?.[0] ?? '', body: part.split('$$')[1] ?? '', file })),
  )
}

export async function liveBodies(database: Database, schema: string): Promise<{ name: string; body: string }[]> {
  const { rows } = await database.query(
    `select p.proname as name, p.prosrc as body from pg_catalog.pg_proc as p where p.pronamespace = to_regnamespace($1)`,
    [quoteIdentifier(schema)],
  )
  return rows.map(({ name, body }) => ({ name: String(name), body: String(body) }))
}

function parseElements(lines: readonly string[]): SchemaElement[] {
  let owner = ''
  return lines.flatMap((line) => {
    const table = /^table (\S+)(.*)$/.exec(line)
    if (table) owner = table[1] ?? ''
    return parseElement(line, owner)
  })
}

const SHAPES: readonly (readonly [SchemaElement['kind'], RegExp])[] = [
  ['table', /^table (?<name>\S+)(?<text>.*)$/],
  ['constraint', /^ {2}constraint (?<name>\S+) (?<text>.+)$/],
  ['index', /^ {2}CREATE (?:UNIQUE )?INDEX (?<name>\S+) ON .+$/],
  ['column', /^ {2}(?<name>\S+) (?<text>.+)$/],
  ['view column', /^view (?<owner>\S+) column (?<name>\S+) (?<text>.+)$/],
  ['function', /^function (?<owner>\w+)(?<name>\(.*?\)) returns (?<text>.+) granted to (?<grantees>.+)$/],
]

/** Options of a table are kept in the order in which they were set, which means nothing. */
function inOrder(text: string): string {
  return text.replace(/\((.*)\)/, (_, options: string) => `(${options.split(', ').sort().join(', ')})`)
}

function parseElement(line: string, table: string): SchemaElement[] {
  for (const [kind, shape] of SHAPES) {
    const { owner = table, name, text = line.trim(), grantees = NO_GRANTEES } = shape.exec(line)?.groups ?? {}
    if (name === undefined) continue
    return [
      {
        kind,
        owner,
        name,
        text: kind === 'table' ? inOrder(text) : text,
        grantees: grantees === NO_GRANTEES ? [] : grantees.split(', '),
      },
    ]
  }
  return []
}
