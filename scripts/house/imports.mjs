// What a source file imports, types included, and which file of the project is meant.
import { posix } from 'node:path'

/**
 * @typedef {object} Import
 * @property {string} from the importing file
 * @property {string} specifier as written
 * @property {string | undefined} target the file of the project, for a relative import
 */

/**
 * @param {import('./files.mjs').House} house
 * @param {string} path
 * @returns {Import[]}
 */
export function importsOf(house, path) {
  const { code, literals } = house.scan(path)
  return [...code.matchAll(/\b(?:from|import|require)\s*\(?\s*"(\d+)"/g)].map((match) => {
    const specifier = literals[Number(match[1])].text
    return { from: path, specifier, target: specifier.startsWith('.') ? resolve(path, specifier) : undefined }
  })
}

/** @param {string} path */
export function isSource(path) {
  return path.startsWith('src/') && path.endsWith('.ts') && !path.endsWith('.test.ts')
}

/** The room of a file of src/, or undefined for the files that stand beside the rooms. */
export function roomOf(path) {
  const [src, room, rest] = path.split('/')
  return src === 'src' && rest !== undefined ? room : undefined
}

function resolve(from, specifier) {
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts')
}
