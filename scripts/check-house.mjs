// Checks the laws of the house, one rule per file in scripts/house/, and lists every violation. A rule selects files and
// checks them one by one, or all of them together.
// --write rewrites what is generated from the source (the list of public exports) instead of complaining about it.
import { openHouse } from './house/files.mjs'
import { arrows } from './house/rule-arrows.mjs'
import { cycles } from './house/rule-cycles.mjs'
import { driver } from './house/rule-driver.mjs'
import { fileLengths } from './house/rule-file-lengths.mjs'
import { fileNames } from './house/rule-file-names.mjs'
import { glossary } from './house/rule-glossary.mjs'
import { inlineSql } from './house/rule-inline-sql.mjs'
import { outsideWords } from './house/rule-outside-words.mjs'
import { publicExports } from './house/rule-public-exports.mjs'
import { removedWords } from './house/rule-removed-words.mjs'
import { sleeps } from './house/rule-sleeps.mjs'
import { sqlClock } from './house/rule-sql-clock.mjs'
import { sqlContracts } from './house/rule-sql-contracts.mjs'

const RULES = [
  arrows,
  cycles,
  driver,
  inlineSql,
  sqlContracts,
  sqlClock,
  fileLengths,
  sleeps,
  publicExports,
  fileNames,
  outsideWords,
  glossary,
  removedWords,
]

const house = openHouse({ write: process.argv.includes('--write') })
let broken = 0
for (const rule of RULES) {
  const violations = violationsOf(rule)
  console.log(`${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${rule.law}`)
  for (const violation of violations) console.log(`        ${violation}`)
  if (violations.length > 0) broken += 1
}
process.exitCode = broken === 0 ? 0 : 1

/** A rule that selects no file guards nothing: what it was written for has moved. */
function violationsOf({ selects, check, checkAll }) {
  const paths = house.files.filter(selects)
  if (paths.length === 0) return ['the rule selects no file']
  return checkAll ? checkAll(house, paths) : paths.flatMap((path) => check(house, path))
}
