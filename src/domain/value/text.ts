// Text that PostgreSQL can store: what it refuses, how many bytes it takes, and how to make any text fit.

const REPLACEMENT = '\uFFFD'
// With the u flag a pair of surrogates is one code point, so only halves match.
const HALF_PAIRS = /\p{Surrogate}/gu

/** Why PostgreSQL would refuse this text, or undefined if it would not. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\u0000')) return 'contains the character \\u0000, which PostgreSQL cannot store'
  if (!text.isWellFormed()) return 'contains half of a surrogate pair, which is not valid Unicode'
  return undefined
}

/** Length in UTF-8; half a surrogate pair counts as the three bytes of its replacement. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text)
}

/**
 * The text with everything PostgreSQL refuses replaced by U+FFFD, in at most `maxBytes` bytes of UTF-8. What was cut off is
 * said at the end, ` … [truncated, N bytes]` with N the bytes of the whole text, unless the limit has no room for the mark.
 */
export function sanitizeText(text: string, maxBytes: number): string {
  // No character takes less than a byte, so what lies beyond maxBytes units never fits: huge texts are not rewritten whole.
  const storable = text.slice(0, maxBytes).replaceAll('\u0000', REPLACEMENT).replace(HALF_PAIRS, REPLACEMENT)
  if (text.length <= maxBytes && utf8Bytes(storable) <= maxBytes) return storable

  const mark = ` … [truncated, ${utf8Bytes(text)} bytes]`
  const room = maxBytes - utf8Bytes(mark)
  return room < 0 ? cutToBytes(storable, maxBytes) : cutToBytes(storable, room) + mark
}

/** The longest beginning that has at most `maxBytes` bytes and ends between two code points. */
function cutToBytes(text: string, maxBytes: number): string {
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += utf8Bytes(character)
    if (bytes > maxBytes) break
    end += character.length
  }
  return text.slice(0, end)
}
