// The public names are a checked-in list, so that growing or breaking the API is a visible change.

const INDEX = 'src/index.ts'
const LIST = 'docs/reference/exports.txt'

export const publicExports = {
  law: `the exports of ${INDEX} are those of ${LIST}`,
  selects: (path) => path === INDEX,
  check(house) {
    const { names, problems } = exportsOf(house.scan(INDEX).code)
    if (house.write) house.save(LIST, `${names.join('\n')}\n`)
    if (house.write || problems.length > 0) return problems

    const listed = house.has(LIST) ? house.text(LIST).split('\n').filter(Boolean) : []
    const violations = [
      ...names.filter((name) => !listed.includes(name)).map((name) => `${name} is exported and not listed`),
      ...listed.filter((name) => !names.includes(name)).map((name) => `${name} is listed and not exported`),
    ]
    if (violations.length === 0 && names.join() !== listed.join()) violations.push('the list is not sorted')
    return violations.length === 0 ? [] : [...violations, 'accept with: node scripts/check-house.mjs --write']
  },
}

function exportsOf(code) {
  const lists = [...code.matchAll(/\bexport\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap((match) => match[1].split(','))
  const listed = lists.map((item) => item.trim().split(/\s+/).at(-1)).filter(Boolean)
  const declared = [
    ...code.matchAll(
      /\bexport\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+(\w+)/g,
    ),
  ].map((match) => match[1])
  const problems = /\bexport\s+(?:type\s+)?\*/.test(code) ? [`${INDEX}: name each export instead of exporting *`] : []
  return { names: [...new Set([...listed, ...declared])].sort(), problems }
}
