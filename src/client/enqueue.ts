// Turns what a caller gives into the members of one enqueue.

import type { JobDefinition } from '../domain/definition.js'
import { commonOptions, type EnqueueManyOptions } from '../domain/enqueue-options.js'
import type { JobId } from '../domain/job.js'
import { memberOf, memberText } from '../pipeline/member.js'
import { enqueueInputs, enqueueJobs } from '../store/enqueue.js'
import type { Store } from '../store/open.js'
import { asQueryable } from '../store/transaction.js'

export async function enqueueMembers(
  store: Store,
  definition: JobDefinition,
  inputs: readonly unknown[],
  options: EnqueueManyOptions<unknown>,
): Promise<JobId[]> {
  const common = JSON.stringify(commonOptions(definition, options))
  const members = await Promise.all(inputs.map((given, index) => memberOf(definition, given, index, options)))
  const tx = options.tx === undefined ? undefined : asQueryable(options.tx)
  // Inside a caller's transaction the commit may come much later than a sleeper's last look, so it always tells.
  const wake = tx ? 'always' : 'sleepers'
  const { actor } = options
  if (actor === undefined && members.every(({ own }) => own === '')) {
    return enqueueInputs(store, `[${members.map(({ input }) => input).join(',')}]`, common, { wake, tx })
  }
  return enqueueJobs(store, `[${members.map(memberText).join(',')}]`, common, { wake, actor, tx })
}
