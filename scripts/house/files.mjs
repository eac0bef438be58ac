// The project's own files: what git tracks or would track, by path from the root.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { scanTypeScript } from './scan-typescript.mjs'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const GENERATED = new Set(['node_modules', 'dist', 'coverage', '.git', '.holdfast'])

/**
 * @typedef {object} House
 * @property {string[]} files every file, sorted
 * @property {boolean} write whether generated files are to be rewritten
 * @property {(path: string) => boolean} has
 * @property {(path: string) => string} text
 * @property {(path: string) => import('./scan-typescript.mjs').Scan} scan
 * @property {(path: string, text: string) => void} save
 */

/**
 * @param {{ write: boolean }} options
 * @returns {House}
 */
export function openHouse({ write }) {
  const files = list()
    .filter((path) => existsSync(join(ROOT, path)))
    .sort()
  const known = new Set(files)
  const text = remembered((path) => readFileSync(join(ROOT, path), 'utf8'))
  return {
    files,
    write,
    text,
    has: (path) => known.has(path),
    scan: remembered((path) => scanTypeScript(text(path))),
    save(path, content) {
      mkdirSync(dirname(join(ROOT, path)), { recursive: true })
      writeFileSync(join(ROOT, path), content)
    },
  }
}

function list() {
  try {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
    const found = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    if (found !== '') return found.split('\0').filter(Boolean)
  } catch {
    // Not a git checkout: an unpacked archive holds the same files.
  }
  return walk('')
}

/** @returns {string[]} */
function walk(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !GENERATED.has(entry.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? walk(path) : [path]
    })
}

function remembered(make) {
  const seen = new Map()
  return (path) => {
    if (!seen.has(path)) seen.set(path, make(path))
    return seen.get(path)
  }
}
