// The project speaks only of itself: no machine's private paths, no notes to be done later.

const NOTES = ['TO' + 'DO', 'FIX' + 'ME'].join('|')
const HOMES = ['work', 'root'].join('|')
const OUTSIDE = new RegExp(`\\b(?:${NOTES})\\b|(?<![\\w.)\\]}-])/(?:${HOMES})/`)
const NOT_TEXT = /\.(png|jpe?g|gif|ico|webp|woff2?|gz|wasm)$|^package-lock\.json$/

export const outsideWords = {
  law: 'nothing speaks of anything outside the project',
  selects: (path) => !NOT_TEXT.test(path),
  check(house, path) {
    return house
      .text(path)
      .split('\n')
      .flatMap((line, index) => (OUTSIDE.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 100)}`] : []))
  },
}
