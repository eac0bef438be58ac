// Turns what a caller gives into the members of one enqueue.

import type { JobDefinition } from '../domain/definition.js'
import { commonOptions, type EnqueueManyOptions } from '../domain/enqueue-options.js'
import type { JobId } from '../domain/job.js'
import { memberText } from '../pipeline/member.js'
import { enqueueJobs } from '../store/enqueue.js'
import type { Store } from '../store/open.js'
import { asQueryable } from '../store/transaction.js'

export async function enqueueMembers(
  store: Store,
  definition: JobDefinition,
  inputs: readonly unknown[],
  options: EnqueueManyOptions<unknown>,
): Promise<JobId[]> {
  const common = commonOptions(definition, options)
  const members = await Promise.all(inputs.map((given, index) => memberText(definition, given, index, options)))
  const tx = options.tx === undefined ? undefined : asQueryable(options.tx)
  // Inside a caller's transaction the commit may come much later than a sleeper's last look, so it always tells.
  return enqueueJobs(store, `[${members.join(',')}]`, JSON.stringify(common), tx ? 'always' : 'sleepers', tx)
}
