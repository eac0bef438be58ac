// Due jobs that nobody will run: because no worker serves their queue, none knows their type, or the queue is paused.

import { type UnservedWork, unservedWork } from '../../store/reads/workers.js'
import type { Check, Patient } from '../check.js'
import { fail, ok, type Told, warn } from '../finding.js'

export const workers: Check = {
  name: 'queues without workers',
  needs: 'schema',
  async examine(patient) {
    const found = await without(patient, 'no_worker')
    return orOk(found, 'every queue with due jobs has a worker', (work) =>
      fail(
        `queue ${work.queue} has due jobs of type ${work.type} (${seen(work)}), and no living worker serves it`,
        `start a worker for it: \`npx holdfast worker\`, with "${work.queue}" in its queues`,
      ),
    )
  },
}

export const handlers: Check = {
  name: 'types without handlers',
  needs: 'schema',
  async examine(patient) {
    const found = await without(patient, 'no_handler')
    return orOk(found, 'every type with due jobs has a handler', (work) =>
      fail(
        `queue ${work.queue} has due jobs of type ${work.type} (${seen(work)}), and no worker of the queue has a handler for it`,
        `deploy a worker that defines it, or cancel them: \`npx holdfast jobs list --type ${work.type}\``,
      ),
    )
  },
}

export const queues: Check = {
  name: 'paused queues',
  needs: 'schema',
  async examine(patient) {
    const found = await without(patient, 'paused')
    return orOk(found, 'no paused queue has due jobs', (work) =>
      warn(
        `queue ${work.queue} is paused and has due jobs of type ${work.type} (${seen(work)})`,
        `when the reason is gone: \`npx holdfast queues resume ${work.queue}\``,
      ),
    )
  },
}

async function without({ store, limits }: Patient, reason: UnservedWork['reason']): Promise<UnservedWork[]> {
  return (await unservedWork(store, limits.dueMs)).filter((work) => work.reason === reason)
}

function orOk(found: readonly UnservedWork[], fine: string, tell: (work: UnservedWork) => Told): Told[] {
  return found.length === 0 ? [ok(fine)] : found.map(tell)
}

function seen({ jobs, oldestRunAt }: UnservedWork): string {
  return `at least ${jobs}, due since ${oldestRunAt.toISOString()}`
}
