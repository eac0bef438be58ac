// A file that cannot be read in one sitting is two files. (The length of functions is the linter's business.)

const LIMITS = [
  { files: /^(test\/.*|src\/.*\.test)\.ts$/, lines: 500 },
  { files: /^src\/.*\.ts$/, lines: 250 },
  { files: /^sql\/functions\/.*\.sql$/, lines: 120 },
]

export const fileLengths = {
  law: `files stay short: ${LIMITS.map(({ lines }) => lines).join(', ')} lines for tests, source, SQL functions`,
  selects: (path) => limitOf(path) !== undefined,
  check(house, path) {
    const limit = limitOf(path)
    const lines = house.text(path).trimEnd().split('\n').length
    return lines > limit ? [`${path}: ${lines} lines, at most ${limit}`] : []
  },
}

function limitOf(path) {
  return LIMITS.find(({ files }) => files.test(path))?.lines
}
