// Reads the files of sql/ as this installation's text: another schema name replaces the prefix everywhere.

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { DEFAULT_SCHEMA, quoteIdentifier } from '../../domain/value/schema-name.js'

export const SQL_FOLDER = new URL('../../../sql/', import.meta.url)

export interface Migration {
  readonly revision: number
  readonly name: string
  readonly checksum: string
  readonly text: string
}

/** The numbered files, lowest first. */
export async function readMigrations(schema: string): Promise<Migration[]> {
  const files = await sqlFiles('migrations')
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(`migrations/${file}`, SQL_FOLDER), 'utf8')
      return {
        revision: Number.parseInt(file, 10),
        name: file.replace(/\.sql$/, ''),
        checksum: createHash('sha256').update(text).digest('hex'),
        text: inSchema(text, schema),
      }
    }),
  )
}

/** Views, functions and grants: whole texts that every migrate applies again. */
export async function readRepeatables(schema: string): Promise<string[]> {
  const views = (await sqlFiles('views')).map((file) => `views/${file}`)
  return readAll([...views, ...(await functionFiles()), 'roles.sql'], schema)
}

export async function readFunctionTexts(schema: string): Promise<string[]> {
  return readAll(await functionFiles(), schema)
}

/** Renames the schema, and with it the roles and the channel that carry its name. The fake clock's setting is shared. */
export function inSchema(text: string, schema: string): string {
  if (schema === DEFAULT_SCHEMA) return text
  return text
    .replace(/\bholdfast_(?=[a-z'])/g, `${schema}_`)
    .replace(/'holdfast'/g, `'${schema}'`)
    .replace(/\bholdfast\b(?!\.fake_now|')/g, quoteIdentifier(schema))
}

function readAll(files: readonly string[], schema: string): Promise<string[]> {
  return Promise.all(files.map(async (file) => inSchema(await readFile(new URL(file, SQL_FOLDER), 'utf8'), schema)))
}

/** Each is in the folder of its subject. */
async function functionFiles(): Promise<string[]> {
  return (await sqlFiles('functions', { recursive: true })).map((file) => `functions/${file.replaceAll('\\', '/')}`)
}

async function sqlFiles(folder: string, options: { recursive?: boolean } = {}): Promise<string[]> {
  return (await readdir(new URL(`${folder}/`, SQL_FOLDER), options)).filter((file) => file.endsWith('.sql')).sort()
}
