// Reads what the files of sql/functions say of themselves, and who may call them.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const WORDS = ['Guard', 'Locks', 'Returns', 'Notifies']

/**
 * One entry per file: its folder, its name, the names of its functions, its first line, its public signatures, and the lines of its contract. Further lines of the
 * header follow as "Note".
 * @param {string} root
 */
export function readSqlContracts(root) {
  const folder = join(root, 'sql', 'functions')
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => ({
      folder: dirname(file),
      ...contractOf(basename(file, '.sql'), readFileSync(join(folder, file), 'utf8')),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Function name → the roles of sql/roles.sql that may call it.
 * @param {string} root
 * @returns {Record<string, string[]>}
 */
export function readGrants(root) {
  const text = readFileSync(join(root, 'sql', 'roles.sql'), 'utf8')
  const grants = /v_grants constant jsonb := '(\{[\s\S]*?\})'/.exec(text)?.[1]
  if (grants === undefined) throw new Error('sql/roles.sql has no v_grants')
  return JSON.parse(grants)
}

/**
 * @param {string} name
 * @param {string} text
 */
function contractOf(name, text) {
  const header = text.slice(0, text.search(/^(?!--)/m)).split('\n')
  const does = header[0].replace(`-- ${name}: `, '')
  /** @type {{ word: string, text: string }[]} */
  const lines = []
  for (const line of header.slice(1)) {
    const [, word, said] = /^-- {3}(\w+) +(\S.*)$/.exec(line) ?? []
    const plain = line.replace(/^--\s*/, '')
    if (word !== undefined && WORDS.includes(word)) lines.push({ word, text: said })
    else if (plain === '' || plain.startsWith('Tested by')) continue
    else if (/^--\s{4,}/.test(line) || lines.at(-1)?.word === 'Note') lines[lines.length - 1].text += ` ${plain}`
    else lines.push({ word: 'Note', text: plain })
  }
  const names = new Set(
    [...text.matchAll(/^create or replace function holdfast\.(\w+?)(?:_v\d+)?\(/gm)].map(([, each]) => each),
  )
  return { name, names: [...names], does, lines, signatures: signaturesOf(text) }
}

/** What a caller needs to know of each function of the file: name, parameters, result. */
function signaturesOf(text) {
  return [...text.matchAll(/create or replace function ([\s\S]*?)\n {2}language /g)].map((match) =>
    match[1]
      .replace(/\s*\n\s*/g, ' ')
      .replaceAll('( ', '(')
      .replaceAll(' )', ')'),
  )
}
