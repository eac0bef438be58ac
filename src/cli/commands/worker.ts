// holdfast worker: runs the jobs of an application in a process of its own until SIGTERM or SIGINT.

import type { Command } from 'commander'
import type { Events } from '../../observe/events.js'
import { RepeatedFaults } from '../../observe/repeated-faults.js'
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
  printEvents(app, flags)
  const stopped = stopSignal()
  await app.start({ alone: true })
  await stopped
  await app.close()
  // A handler that ignores its signal would keep the process alive; its job is released already.
  process.exit()
}

function printEvents(app: App, { json }: DatabaseFlags): void {
  const say = (name: string, fields: object, text: string) =>
    console.log(json ? JSON.stringify({ at: new Date().toISOString(), event: name, ...fields }) : text)
  app.on('worker.started', (event: Events['worker.started']) =>
    say('worker.started', event, `worker ${event.worker} serves ${event.queues.join(', ')}: ${event.types.join(', ')}`),
  )
  app.on('worker.stopped', (event: Events['worker.stopped']) =>
    say('worker.stopped', event, `worker ${event.worker} stopped`),
  )
  app.on('job.failed', (event: Events['job.failed']) =>
    say('job.failed', event, `#${event.id} ${event.type} failed (attempt ${event.attempt}): ${event.failure.message}`),
  )
  const faults = new RepeatedFaults(({ worker, doing, error }, text) =>
    say('worker.fault', { worker, doing, message: String(error) }, `${text}: ${String(error)}`),
  )
  app.on('worker.fault', faults.add)
}
