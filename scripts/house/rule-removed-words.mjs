// Words that were replaced do not come back: one concept has one word, and the glossary has it. A name counts by its parts,
// so that laneWork and lane_work are found, and housekeeper is not.

const WORDS = new Map(
  Object.entries({
    'deed deeds': 'operation',
    'lane lanes': 'queue fetcher',
    stock: 'prefetch',
    'seat seats': 'reserved slot',
    'keeper keepers': 'lease renewer',
    'suspect suspects': 'quarantine',
    'crowd crowds': 'blocked backlog',
    'clerk clerks': 'statistics, bulk worker',
    upkeep: 'maintenance',
    'trade trades': 'role',
    'beat beats': 'heartbeat',
    surroundings: 'async context',
    anew: 'again',
    whoever: 'say who',
  }).flatMap(([removed, instead]) => removed.split(' ').map((word) => [word, instead])),
)

const PHRASES = [
  [
    /\b[Ss]tand-ins?\b|[Ss]tandIn(?![a-z])|stand_in(?![a-z])|\b(?:[Ss]tands?|[Ss]tood|[Ss]tanding) in for\b/,
    'renewal watchdog, takes over',
  ],
  [/\bhand(?:s|ed|ing)? (?:\w+ ){0,2}over\b|handOver|hand_over/i, 'direct handoff'],
  [/\bstop[- ]words?\b|stopWord/i, 'cancellation'],
  [/\bin doubt\b|inDoubt|in_doubt/i, 'unacknowledged'],
  [/\bpass(?:es|ed|ing)? crowds|pass_by|passBy/i, 'skip ahead'],
  [/\bshut keys?\b/i, 'locked key'],
  [/\bliving tables?\b/i, 'name the tables'],
  [/isHeld|is_held/i, 'isClaimed'],
  [/\bin vain\b/i, 'without a result'],
  [/\bbec(?:a|o)mes? of\b/i, 'say what happens'],
  [/\bneeds? not be told\b/i, 'say who knows it'],
  [/^-- +(?:Gives|Tells) /, 'Returns, Notifies'],
]

// Not clean yet. The list only shrinks: a folder leaves it with its last removed word.
const NOT_YET = ['docs/reference/sql.md', ...['operate', 'reads'].map((folder) => `sql/functions/${folder}/`)]

const TEXT = /\.(?:ts|tsx|mjs|js|sql|md|css|html|txt)$/
// This rule names the words, and the changelog names what was renamed.
const NAMES_THEM = ['scripts/house/rule-removed-words.mjs', 'CHANGELOG.md']

export const removedWords = {
  law: 'removed words do not come back',
  selects: (path) => TEXT.test(path) && !NAMES_THEM.includes(path) && !NOT_YET.some((start) => path.startsWith(start)),
  check: violations,
}

/** Every removed word in a file, whether its folder is clean or not. */
export function violations(house, path) {
  return house
    .text(path)
    .split('\n')
    .flatMap((line, index) => findings(line).map((found) => `${path}:${index + 1}: ${found}`))
}

function findings(line) {
  const words = parts(line)
    .filter((word) => WORDS.has(word))
    .map((word) => `"${word}": ${WORDS.get(word)}`)
  const phrases = PHRASES.flatMap(([pattern, instead]) => {
    const found = pattern.exec(line)
    return found === null ? [] : [`"${found[0].trim()}": ${instead}`]
  })
  return [...words, ...phrases]
}

function parts(line) {
  return line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .map((word) => word.toLowerCase())
}
