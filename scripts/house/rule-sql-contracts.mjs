// Each SQL function opens with its contract, stands in the table of sql/README.md and has a test of its name
// (or says "Tested by" which other file tests it).

import { posix } from 'node:path'

const LINES = ['Guard', 'Locks', 'Returns', 'Notifies']

export const sqlContracts = {
  law: 'each SQL function has its contract, its row in sql/README.md and its test',
  selects: (path) => /^sql\/functions\/.+\.sql$/.test(path),
  check(house, path) {
    const name = posix.basename(path, '.sql')
    const header = headerOf(house.text(path))
    const problems = contractProblems(name, header)
    if (!/^sql\/functions\/\w+\/\w+\.sql$/.test(path)) problems.push('does not stand in the folder of its subject')
    if (!new RegExp(`\\b${name}\\b`).test(house.text('sql/README.md'))) problems.push('is not listed in sql/README.md')
    const test = testOf(name, header)
    const isThere = house.files.some((file) => file.startsWith('test/') && file.endsWith(`/${test}`))
    if (!isThere) problems.push(`has no test: test/ has no ${test}`)
    return problems.map((problem) => `${path}: ${problem}`)
  },
}

function headerOf(text) {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  return end === -1 ? lines : lines.slice(0, end)
}

function contractProblems(name, header) {
  const problems = []
  if (!new RegExp(`^-- ${name}: \\S`).test(header[0] ?? ''))
    problems.push(`does not begin with "-- ${name}: from → to"`)
  const found = header.map((line) => /^-- {3}(\w+) +\S/.exec(line)?.[1]).filter((word) => LINES.includes(word))
  if (found.join() !== LINES.join()) problems.push(`header must say ${LINES.join(', ')}, each once, in this order`)
  return problems
}

function testOf(name, header) {
  const named = header.map((line) => /^-- {3}Tested by +(\S+)/.exec(line)?.[1]).find((file) => file !== undefined)
  return named === undefined ? `${name}.test.ts` : posix.basename(named)
}
