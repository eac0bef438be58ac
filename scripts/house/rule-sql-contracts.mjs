// Each SQL function opens with its contract, stands in the table of sql/README.md and has a test of its name
// (or says "Tested by" which other file tests it).

const LINES = ['Guard', 'Locks', 'Gives', 'Tells']

export const sqlContracts = {
  law: 'each SQL function has its contract, its row in sql/README.md and its test',
  check(house) {
    const readme = house.has('sql/README.md') ? house.text('sql/README.md') : ''
    return house.files
      .filter((path) => /^sql\/functions\/[^/]+\.sql$/.test(path))
      .flatMap((path) => {
        const name = path.slice('sql/functions/'.length, -'.sql'.length)
        const header = headerOf(house.text(path))
        const problems = contractProblems(name, header)
        if (!new RegExp(`\\b${name}\\b`).test(readme)) problems.push('is not listed in sql/README.md')
        const test = testOf(name, header)
        if (!house.has(test)) problems.push(`has no test: ${test} does not exist`)
        return problems.map((problem) => `${path}: ${problem}`)
      })
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
  if (named === undefined) return `test/sql/${name}.test.ts`
  return named.startsWith('test/') ? named : `test/sql/${named}`
}
