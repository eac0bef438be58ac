// holdfast schedules: shows schedules and their next ticks, triggers, enables and disables them.

import type { Command } from 'commander'
import type { Schedules } from '../../client/schedules.js'
import { invalidOption } from '../../domain/error/invalid-option.js'
import { type DatabaseFlags, onDatabase, withClient, withDatabase } from '../database.js'
import { parseJson } from '../json-argument.js'
import { findAppFile, loadApp } from '../load-app.js'
import { ago, print, span, table } from '../terminal.js'

interface NextFlags extends DatabaseFlags {
  readonly limit?: string
}

interface TriggerFlags extends DatabaseFlags {
  readonly input?: string
}

export function addSchedules(program: Command): void {
  const schedules = program.command('schedules').description('show schedules, trigger, enable and disable them')
  withDatabase(schedules.command('list')).description('show every schedule, by its key').action(runList)
  withDatabase(schedules.command('next <key>'))
    .description('show the next ticks')
    .option('--limit <n>', 'how many ticks', '10')
    .action(runNext)
  withDatabase(schedules.command('trigger <key>'))
    .description('enqueue its job now, beside its ticks')
    .option('--input <json>', "use this input instead of the schedule's own")
    .action(runTrigger)
  for (const operation of ['enable', 'disable'] as const) {
    withDatabase(schedules.command(`${operation} <key>`))
      .description(operation === 'enable' ? 'run its ticks again, from now on' : 'stop running its ticks')
      .action((key, flags) => runSwitch(key, operation, flags))
  }
}

async function runList(flags: DatabaseFlags): Promise<void> {
  await withClient(flags, async ({ client }) => {
    const all = await client.schedules.list({ limit: 1000 })
    print(flags, all, () =>
      table(
        ['key', 'type', 'timing', 'time zone', 'next', 'last', 'fault'],
        all.map((one) => [
          one.jobKey,
          one.type,
          one.cron ?? `every ${span(one.everyMs ?? 0)}`,
          one.timezone,
          one.isEnabled ? one.nextTick?.toISOString() : 'disabled',
          ago(one.lastTick),
          one.fault?.error.message,
        ]),
        'there is no schedule',
      ),
    )
  })
}

async function runNext(key: string, flags: NextFlags): Promise<void> {
  const limit = Number(flags.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw invalidOption('--limit', 'a whole number from 1 to 1000', flags.limit)
  }
  await withClient(flags, async ({ client }) => {
    const ticks = await client.schedules.preview(key, { limit })
    print(flags, ticks, () => ticks.map((tick) => tick.toISOString()).join('\n') || 'it will not tick any more')
  })
}

async function runTrigger(key: string, flags: TriggerFlags): Promise<void> {
  const given = flags.input === undefined ? {} : { input: parseJson('--input', flags.input) }
  await withSchedules(flags, async (schedules) => {
    const id = await schedules.trigger(key, given)
    print(flags, { key, id }, `job ${id} enqueued`)
  })
}

async function runSwitch(key: string, operation: 'enable' | 'disable', flags: DatabaseFlags): Promise<void> {
  await withClient(flags, async ({ client }) => {
    const changed = await client.schedules[operation](key)
    print(flags, { key, changed }, `schedule ${key} ${changed ? `${operation}d` : `was ${operation}d already`}`)
  })
}

/** Uses the application's code where there is one: it may compute the input. */
async function withSchedules(flags: DatabaseFlags, work: (schedules: Schedules) => Promise<void>): Promise<void> {
  if (findAppFile(flags.config) === undefined) return withClient(flags, ({ client }) => work(client.schedules))
  const app = onDatabase(await loadApp(flags.config), flags)
  try {
    await work(app.schedules)
  } finally {
    await app.close()
  }
}
