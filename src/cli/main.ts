#!/usr/bin/env node
// The command line: commands, help, and errors as exit codes.

import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { addBench } from './commands/bench.js'
import { addDev } from './commands/dev.js'
import { addDoctor } from './commands/doctor.js'
import { addInit } from './commands/init.js'
import { addJobs } from './commands/jobs.js'
import { addMigrate } from './commands/migrate.js'
import { addQueues } from './commands/queues.js'
import { addRun } from './commands/run.js'
import { addSchedules } from './commands/schedules.js'
import { addStatus } from './commands/status.js'
import { addUi } from './commands/ui.js'
import { addWorker } from './commands/worker.js'
import { errorLine, exitCodeOf } from './exit-codes.js'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

const program = new Command('holdfast')
  .description('Background jobs on the PostgreSQL that you already have')
  .version(version)
  .exitOverride()
addInit(program, version)
addDev(program, version)
addWorker(program)
addMigrate(program)
addStatus(program)
addDoctor(program)
addRun(program)
addJobs(program)
addQueues(program)
addSchedules(program)
addUi(program)
addBench(program)

try {
  loadEnvironment()
  await program.parseAsync()
} catch (error) {
  process.exitCode = failed(error)
}

/** Reads .env when there is one; what the environment already says wins. */
function loadEnvironment(): void {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function failed(error: unknown): number {
  // Commander has said what is wrong; help and version end with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  console.error(errorLine(error, process.argv.includes('--json')))
  return exitCodeOf(error)
}
