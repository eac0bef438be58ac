// holdfast worker: runs the jobs of an application in a process of its own until it is told to stop.

import type { Command } from 'commander'
import type { Events } from '../../observe/events.js'
import { type DatabaseFlags, onDatabase, withDatabase } from '../database.js'
import { type App, loadApp } from '../load-app.js'
import { stopSignal } from '../stop-signal.js'

export function addWorker(program: Command): void {
  withDatabase(program.command('worker'))
    .description('run the jobs of your application until SIGTERM or SIGINT')
    .action(runWorker)
}

async function runWorker(flags: DatabaseFlags): Promise<void> {
  const app = onDatabase(await loadApp(flags.config), flags)
  tellFacts(app, flags)
  const stopped = stopSignal()
  await app.start({ alone: true })
  await stopped
  await app.close()
  // A handler that ignores its signal would keep the process; its job is given back already.
  process.exit()
}

function tellFacts(app: App, { json }: DatabaseFlags): void {
  const say = (name: string, fact: object, text: string) =>
    console.log(json ? JSON.stringify({ at: new Date().toISOString(), event: name, ...fact }) : text)
  app.on('worker.started', (fact: Events['worker.started']) =>
    say('worker.started', fact, `worker ${fact.worker} serves ${fact.queues.join(', ')}: ${fact.types.join(', ')}`),
  )
  app.on('worker.stopped', (fact: Events['worker.stopped']) =>
    say('worker.stopped', fact, `worker ${fact.worker} stopped`),
  )
  app.on('job.failed', (fact: Events['job.failed']) =>
    say('job.failed', fact, `#${fact.id} ${fact.type} failed (attempt ${fact.attempt}): ${fact.failure.message}`),
  )
  app.on('worker.fault', ({ worker, doing, error }: Events['worker.fault']) =>
    say('worker.fault', { worker, doing, message: String(error) }, `${doing} failed: ${String(error)}`),
  )
}
