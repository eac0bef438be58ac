// Whatever changes data or tables is a function in sql/: one truth, readable and runnable in psql.

const CHANGES = [
  /\binsert\s+into\b/i,
  /\bupdate\s+(?:only\s+)?[\w."]+(?:\s+(?:as\s+)?\w+)?\s+set\b/i,
  /\bdelete\s+from\b/i,
  /\bmerge\s+into\b/i,
  /\b(?:create|alter|drop)\s+table\b/i,
]

// The doctor shows its reader what would repair a schema, and sends none of it.
const PRINTED = /^src\/doctor\//

export const inlineSql = {
  law: 'no data-changing SQL in src',
  selects: (path) => path.startsWith('src/') && path.endsWith('.ts') && !PRINTED.test(path),
  check(house, path) {
    return house
      .scan(path)
      .literals.filter(({ text }) => CHANGES.some((change) => change.test(text)))
      .map(({ line, text }) => `${path}:${line}: ${text.trim().split('\n')[0]}`)
  },
}
