// holdfast worker: runs the jobs of an application in a process of its own until it is told to stop.

import type { Command } from 'commander'
import type { Events } from '../../observe/events.js'
import { type App, loadApp } from '../load-app.js'

interface WorkerFlags {
  readonly config?: string
  readonly json?: boolean
}

export function addWorker(program: Command): void {
  program
    .command('worker')
    .description('run the jobs of your application until SIGTERM or SIGINT')
    .option('--config <file>', 'the file that exports your Holdfast')
    .option('--json', 'print JSON lines')
    .action(runWorker)
}

async function runWorker(flags: WorkerFlags): Promise<void> {
  const app = await loadApp(flags.config)
  tellFacts(app, flags)
  const stopped = stopSignal()
  await app.start()
  await stopped
  await app.close()
  // A handler that ignores its signal would keep the process; its job is given back already.
  process.exit()
}

/** Resolves at the first signal; the second ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    const stop = () => {
      if (isStopping) process.exit(1)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}

function tellFacts(app: App, { json }: WorkerFlags): void {
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
