// holdfast ui: serves the HTTP API alone, on a database that already has jobs.

import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { openClient } from '../../client/open.js'
import { invalidOption } from '../../domain/error/invalid-option.js'
import type { BearerToken } from '../../http/bearer-tokens.js'
import { type DatabaseFlags, findDatabase, withDatabase } from '../database.js'
import { stopSignal } from '../stop-signal.js'
import { print } from '../terminal.js'

interface UiFlags extends DatabaseFlags {
  readonly host: string
  readonly port: string
  readonly tokens?: string
}

export function addUi(program: Command): void {
  withDatabase(program.command('ui'))
    .description('serve the HTTP API on a database that has jobs; runs no jobs itself')
    .option('--host <address>', 'address to listen on; one that other machines can reach needs --tokens', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes a free one', '4747')
    .option('--tokens <file>', 'a JSON file: an array of { name, sha256, permissions, queues? }, one per user')
    .action(runUi)
}

async function runUi(flags: UiFlags): Promise<void> {
  const stopped = stopSignal()
  const tokens = flags.tokens === undefined ? undefined : await readTokens(flags.tokens)
  const open = openClient(await findDatabase(flags))
  try {
    // An unreachable database is reported at the start, not at the first request.
    await open.client.operator.live()
    // The HTTP API is most of what this program loads; no other command needs it.
    const { serve } = await import('../../http/serve.js')
    const serving = await serve(open.client, {
      hostname: flags.host,
      port: checkPort(flags.port),
      ...(tokens && { tokens }),
    })
    print(flags, { url: serving.url }, `the HTTP API is at ${serving.url} · ctrl-c ends it`)
    await stopped
    await serving.close()
  } finally {
    await open.close()
  }
}

export function checkPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw invalidOption('--port', 'a number from 0 to 65535', text)
}

async function readTokens(file: string): Promise<BearerToken[]> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw invalidOption('--tokens', 'a file that can be read', error.message)
  })
  try {
    const tokens: unknown = JSON.parse(text)
    if (Array.isArray(tokens) && tokens.every((one) => typeof one?.sha256 === 'string')) return tokens
  } catch {}
  throw invalidOption('--tokens', 'a JSON array of { name, sha256, permissions }', file)
}
