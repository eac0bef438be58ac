// Due jobs that no worker will run: no worker serves their queue, none has their handler, or the queue is paused.

import { type UnservedWork, unservedWork } from '../../store/reads/workers.js'
import type { Check, CheckTarget } from '../check.js'
import { type CheckResult, fail, ok, warn } from '../finding.js'

export const workers: Check = {
  name: 'queues without workers',
  needs: 'schema',
  async examine(target) {
    const found = await without(target, 'no_worker')
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
  async examine(target) {
    const found = await without(target, 'no_handler')
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
  async examine(target) {
    const found = await without(target, 'paused')
    return orOk(found, 'no paused queue has due jobs', (work) =>
      warn(
        `queue ${work.queue} is paused and has due jobs of type ${work.type} (${seen(work)})`,
        `when the reason is gone: \`npx holdfast queues resume ${work.queue}\``,
      ),
    )
  },
}

async function without({ store, limits }: CheckTarget, reason: UnservedWork['reason']): Promise<UnservedWork[]> {
  return (await unservedWork(store, limits.dueMs)).filter((work) => work.reason === reason)
}

function orOk(
  found: readonly UnservedWork[],
  fine: string,
  describe: (work: UnservedWork) => CheckResult,
): CheckResult[] {
  return found.length === 0 ? [ok(fine)] : found.map(describe)
}

function seen({ jobs, oldestRunAt }: UnservedWork): string {
  return `at least ${jobs}, due since ${oldestRunAt.toISOString()}`
}
