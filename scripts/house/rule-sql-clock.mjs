// One clock: holdfast.now(), which a test can set. Any other reading of the time escapes the tests.

const OTHER_CLOCKS =
  /(?<!\bholdfast\.)\bnow\s*\(\s*\)|\b(?:clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\b|\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime)\b/gi

export const sqlClock = {
  law: 'SQL reads no clock but holdfast.now()',
  selects: (path) => /^sql\/(functions|views)\/.*\.sql$/.test(path) && path !== 'sql/functions/shared/now.sql',
  check(house, path) {
    return withoutComments(house.text(path))
      .split('\n')
      .flatMap((line, index) => [...line.matchAll(OTHER_CLOCKS)].map((match) => `${path}:${index + 1}: ${match[0]}`))
  },
}

function withoutComments(sql) {
  return sql.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, '')).replace(/--.*$/gm, '')
}
