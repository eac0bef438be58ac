// A file that cannot be read in one sitting is two files. (The length of functions is the linter's business.)

const LIMITS = [
  { files: /^(test\/.*|src\/.*\.test)\.ts$/, lines: 500 },
  { files: /^src\/.*\.ts$/, lines: 400 },
  { files: /^sql\/functions\/.*\.sql$/, lines: 150 },
]

export const fileLengths = {
  law: `files stay short: ${LIMITS.map(({ lines }) => lines).join(', ')} lines for tests, source, SQL functions`,
  check(house) {
    return house.files.flatMap((path) => {
      const limit = LIMITS.find(({ files }) => files.test(path))
      if (!limit) return []
      const lines = house.text(path).trimEnd().split('\n').length
      return lines > limit.lines ? [`${path}: ${lines} lines, at most ${limit.lines}`] : []
    })
  },
}
