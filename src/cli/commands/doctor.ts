// holdfast doctor: examines the database and its workers, and prints what to do. Exit code 1 can stop a deployment.

import type { Command } from 'commander'
import { examine } from '../../doctor/examine.js'
import type { Finding, Verdict } from '../../doctor/finding.js'
import { LIMIT_NAMES, readLimits } from '../../doctor/thresholds.js'
import { type DatabaseFlags, findDatabase, withDatabase } from '../database.js'
import { paint, print } from '../terminal.js'

interface DoctorFlags extends DatabaseFlags {
  readonly limit?: readonly string[]
  readonly strict?: boolean
  readonly fixSql?: boolean
}

export function addDoctor(program: Command): void {
  withDatabase(program.command('doctor'))
    .description('examine the database, its rights, its schema and its workers; exit with 1 when something fails')
    .option('--strict', 'exit with 1 on warnings too')
    .option('--fix-sql', 'print only the statements that repair what was found')
    .option('--limit <name=value...>', `from where on to warn: ${LIMIT_NAMES.join(', ')}`)
    .action(runDoctor)
}

async function runDoctor(flags: DoctorFlags): Promise<void> {
  const limits = readLimits(flags.limit ?? [])
  const findings = await examine(await findDatabase(flags), limits)
  const gate: readonly Verdict[] = flags.strict ? ['warn', 'fail'] : ['fail']
  const isSound = !findings.some(({ verdict }) => gate.includes(verdict))
  if (flags.fixSql) print(flags, statements(findings), () => statements(findings).join('\n'))
  else print(flags, { isSound, findings }, () => findings.map(lines).join('\n'))
  if (!isSound) process.exitCode = 1
}

function statements(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ sql }) => sql ?? [])
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function lines({ check, verdict, text, fix, sql }: Finding): string {
  const head = `${paint(COLOURS[verdict], verdict.padEnd(4))}  ${check}: ${text}`
  // A function takes many lines: only --fix-sql prints it.
  const short = (sql ?? []).filter((statement) => !statement.includes('\n'))
  return [head, ...(fix ? [`        ${fix}`] : []), ...short.map((statement) => `        ${statement}`)].join('\n')
}
