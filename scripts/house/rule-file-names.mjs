// File and folder names say what they hold: kebab-case, and no drawer names.

const FOLDERS = /^(src|test|scripts|bench|chaos|examples)\//
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/
const SNAKE = /^[a-z0-9]+(_[a-z0-9]+)*$/
const DRAWERS = /^(utils?|helpers?|lib|common|types|interfaces?|managers?|services?)$/

export const fileNames = {
  law: 'names are kebab-case and say what they hold',
  selects: () => true,
  check(_house, path) {
    const parts = path.split('/')
    const words = parts.map((part) => part.split('.')[0]).filter((word) => word !== '' && word !== 'README')
    const drawer = words.find((word) => DRAWERS.test(word))
    if (drawer !== undefined) return [`${path}: "${drawer}" names a drawer, not what is in it`]
    return words.every((word) => isWellNamed(path, word)) ? [] : [`${path}: not kebab-case`]
  },
}

// SQL names its files after its functions, and so do the tests of those functions.
function isWellNamed(path, word) {
  if (/^(sql|test\/sql)\//.test(path) && SNAKE.test(word)) return true
  return !FOLDERS.test(path) || KEBAB.test(word)
}
