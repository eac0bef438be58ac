// holdfast dev: everything in one process while you write: database, schema, worker, schedules, HTTP API, and your
// files as they change.

import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { type OpenDatabase, openSharedDatabase } from '../../client/open.js'
import { type DatabaseFlags, onDatabase, withDatabase } from '../database.js'
import { type DevListener, DevSession } from '../dev-session.js'
import { errorLine } from '../exit-codes.js'
import { parseJson } from '../json-argument.js'
import { findAppFile, loadApp } from '../load-app.js'
import { stopSignal } from '../stop-signal.js'
import { paint } from '../terminal.js'
import { watchFiles } from '../watch-files.js'
import { checkPort } from './ui.js'

interface DevFlags extends DatabaseFlags {
  readonly watch: readonly string[]
  readonly port: string
}

export function addDev(program: Command, version: string): void {
  withDatabase(program.command('dev'))
    .description('run your jobs while you write them; without a database on an embedded PostgreSQL')
    .option('--watch <folder...>', 'reload the jobs when files in these folders change', ['jobs', 'src'])
    .option('--port <n>', 'port of the HTTP API, on this machine only; 0 takes a free one', '4747')
    .action((flags: DevFlags) => runDev(flags, version))
}

async function runDev(flags: DevFlags, version: string): Promise<void> {
  const startedAt = performance.now()
  const stopped = stopSignal()
  const app = onDatabase(await loadApp(flags.config, { fresh: true }), flags)
  const database = await openSharedDatabase({ database: app.database })
  const print = printer(flags)
  const session = new DevSession(
    database,
    flags.config,
    checkPort(flags.port),
    listener(print, () => banner(database, version, startedAt)),
  )
  try {
    await session.start(app)
    const file = findAppFile(flags.config) ?? ''
    const unwatch = watchFiles(flags.watch, file, () => void session.reload())
    await Promise.race([stopped, typedLines(session, print)])
    unwatch()
    await session.stop()
  } finally {
    await database.close()
  }
  process.exit()
}

type Print = (event: string, fields: object, text: string) => void

function printer({ json }: DevFlags): Print {
  return (event, fields, text) => {
    const at = new Date()
    if (json) console.log(JSON.stringify({ at: at.toISOString(), event, ...fields }))
    else console.log(`${paint('dim', at.toTimeString().slice(0, 8))} ${text}`)
  }
}

function listener(print: Print, opening: () => string): DevListener {
  return {
    started(app, url, isFirst) {
      const count = `${app.types.length} ${app.types.length === 1 ? 'job' : 'jobs'} (${app.types.join(', ')})`
      if (!isFirst) return print('reloaded', { types: app.types }, `reloaded: ${count}`)
      print('ready', { types: app.types, url }, `${opening()} · ${count}`)
      print('serving', { url }, `the HTTP API is at ${url}`)
      print('hint', {}, `type a job and its input to run it: ${app.types[0] ?? 'type'} {"name": "Ada"} · q quits`)
    },
    broken: (error) =>
      print(
        'broken',
        { message: String(error) },
        `${errorLine(error, false)}\nthe previous version of the jobs goes on running`,
      ),
    jobChanged: ({ event, id, type, text }) => print(event, { id, type, text }, `${type} #${id} ${text}`),
  }
}

function banner({ engine }: OpenDatabase, version: string, startedAt: number): string {
  const where =
    engine === 'embedded' ? 'embedded PostgreSQL in .holdfast (set DATABASE_URL for a server)' : 'your server'
  return `holdfast ${version} · ${where} · ready in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`
}

/** `hello {"name": "Ada"}` enqueues a job; q quits. The end of standard input does not end the command. */
function typedLines(session: DevSession, print: Print): Promise<void> {
  return new Promise((resolve) => {
    createInterface({ input: process.stdin }).on('line', async (line) => {
      const [, type = '', input = ''] = /^\s*(\S*)\s*(.*)$/.exec(line) ?? []
      if (type === 'q') return resolve()
      if (type === '') return
      try {
        await session.enqueue(type, parseJson('the input', input.trim() || '{}'))
      } catch (error) {
        print('refused', { message: String(error) }, errorLine(error, false))
      }
    })
  })
}
