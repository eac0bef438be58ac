// Splits TypeScript into code and literals, without a parser: comments vanish, each literal becomes "<its number>",
// lines keep their numbers. Enough to find imports and SQL, and not fooled by either in a comment.

/** @typedef {{ text: string, line: number }} Literal */
/** @typedef {{ code: string, literals: Literal[] }} Scan */

// A slash after one of these begins a regular expression; after a name, number or closing bracket it divides.
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|delete|await))\s*$/

/**
 * @param {string} source
 * @returns {Scan}
 */
export function scanTypeScript(source) {
  /** @type {Scan} */
  const scan = { code: '', literals: [] }
  let at = 0
  let line = 1

  const take = (end) => {
    const piece = source.slice(at, end)
    at = end
    line += newlines(piece).length
    return piece
  }
  const literal = (end, text) => {
    const start = line
    const piece = take(end)
    scan.literals.push({ text: text ?? piece.slice(1, -1), line: start })
    scan.code += `"${scan.literals.length - 1}"${newlines(piece)}`
  }

  while (at < source.length) {
    const two = source.slice(at, at + 2)
    const one = source[at]
    if (two === '//') take(endOf(source.indexOf('\n', at), source))
    else if (two === '/*') scan.code += newlines(take(endOf(source.indexOf('*/', at + 2), source, 2))) || ' '
    else if (one === "'" || one === '"') literal(endOfQuoted(source, at))
    else if (one === '`') {
      const { end, text } = template(source, at)
      literal(end, text)
    } else if (one === '/' && BEFORE_REGEX.test(scan.code.slice(-40))) literal(endOfRegex(source, at), '')
    else scan.code += take(at + 1)
  }
  return scan
}

/**
 * The numbers of the lines of `scan.code` on which the pattern begins.
 * @param {Scan} scan
 * @param {RegExp} pattern with the flag g
 * @returns {number[]}
 */
export function linesMatching(scan, pattern) {
  return [...scan.code.matchAll(pattern)].map((match) => newlines(scan.code.slice(0, match.index)).length + 1)
}

const newlines = (text) => text.replace(/[^\n]/g, '')

const endOf = (index, source, length = 0) => (index === -1 ? source.length : index + length)

function endOfQuoted(source, start) {
  let at = start + 1
  while (at < source.length && source[at] !== source[start] && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfRegex(source, start) {
  let at = start + 1
  let inClass = false
  while (at < source.length && source[at] !== '\n' && (inClass || source[at] !== '/')) {
    if (source[at] === '[') inClass = true
    if (source[at] === ']') inClass = false
    at += source[at] === '\\' ? 2 : 1
  }
  return at + 1
}

// The text of a template, each ${…} standing as one x so that words on both sides stay words.
function template(source, start) {
  let text = ''
  let at = start + 1
  while (at < source.length && source[at] !== '`') {
    if (source.startsWith('${', at)) {
      at = endOfHole(source, at + 2)
      text += 'x'
    } else {
      const length = source[at] === '\\' ? 2 : 1
      text += source.slice(at, at + length)
      at += length
    }
  }
  return { end: at + 1, text }
}

function endOfHole(source, start) {
  let depth = 1
  let at = start
  while (at < source.length && depth > 0) {
    if (source[at] === '`') at = template(source, at).end
    else if (source[at] === "'" || source[at] === '"') at = endOfQuoted(source, at)
    else {
      if (source[at] === '{') depth += 1
      if (source[at] === '}') depth -= 1
      at += 1
    }
  }
  return at
}
