// The glossary stays short, and every term in it is used in the docs.

const GLOSSARY = 'docs/glossary.md'
const MOST_ROWS = 30

export const glossary = {
  law: `docs/glossary.md has at most ${MOST_ROWS} rows, and the docs use each of its terms`,
  selects: (path) => path === 'README.md' || /^docs\/.*\.md$/.test(path),
  checkAll(house, paths) {
    const rows = readRows(house.text(GLOSSARY))
    const docs = paths
      .filter((path) => path !== GLOSSARY)
      .map((path) => house.text(path).replace(/\s+/g, ' '))
      .join('\n')
    const unused = rows
      .flatMap((row) => row.terms)
      .filter((term) => !new RegExp(`\\b${term}`, 'i').test(docs))
      .map((term) => `${GLOSSARY}: no page uses "${term}"`)
    const tooMany = rows.length > MOST_ROWS ? [`${GLOSSARY}: ${rows.length} rows`] : []
    return [...tooMany, ...unused]
  },
}

/** The rows below the head of the table; a row may hold several terms, separated by commas. */
function readRows(text) {
  const cells = [...text.matchAll(/^\| ([^|]+) \|/gm)].map((match) => match[1].trim())
  return cells.slice(cells.indexOf('word') + 1).map((cell) => ({ terms: cell.split(', ') }))
}
