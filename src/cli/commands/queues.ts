// holdfast queues: shows queues, pauses and resumes them.

import type { Command } from 'commander'
import { type DatabaseFlags, withClient, withDatabase } from '../database.js'
import { print } from '../terminal.js'
import { queueTable } from './status.js'

export function addQueues(program: Command): void {
  const queues = program.command('queues').description('show queues, pause and resume them')
  withDatabase(queues.command('list'))
    .description('show every queue that has jobs, has workers or is paused')
    .action(listQueues)
  withDatabase(queues.command('pause <queue>'))
    .description('stop claiming jobs of a queue; running jobs go on')
    .action((queue, flags) => switchQueue(queue, 'pause', flags))
  withDatabase(queues.command('resume <queue>'))
    .description('claim jobs of a queue again')
    .action((queue, flags) => switchQueue(queue, 'resume', flags))
}

async function listQueues(flags: DatabaseFlags): Promise<void> {
  await withClient(flags, async ({ client }) => {
    const { rows } = await client.operator.queues({ limit: 200 })
    print(flags, rows, () => queueTable(rows))
  })
}

async function switchQueue(queue: string, operation: 'pause' | 'resume', flags: DatabaseFlags): Promise<void> {
  await withClient(flags, async ({ client }) => {
    const changed = await client[operation](queue)
    const done = operation === 'pause' ? 'paused' : 'resumed'
    const idle = operation === 'pause' ? 'was paused already' : 'was not paused'
    print(flags, { queue, changed }, `queue ${queue} ${changed ? done : idle}`)
  })
}
