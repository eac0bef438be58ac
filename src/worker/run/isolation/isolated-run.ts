// Runs one claimed job in a thread or process of its own, which can be ended whatever the handler does. A crash of the isolate
// is a failed attempt of this job only.

import type { HoldfastError } from '../../../domain/error/errors.js'
import type { Isolation } from '../../../domain/job/definition.js'
import type { ClaimedJob } from '../../../domain/job/job.js'
import { JobTimedOut } from '../../../domain/run/abort-reasons.js'
import type { Logger } from '../../../domain/run/context.js'
import { failed, type Outcome } from '../../../domain/run/outcome.js'
import type { Store } from '../../../store/store.js'
import type { LeasedCalls } from '../../leased-calls.js'
import type { RunnableJob } from '../../registry.js'
import { type OnOutcome, outcomeOfAbort, type Run } from '../runner.js'
import type { IsolateEnd } from './isolate.js'
import type { FromIsolate, IsolateTask } from './messages.js'
import { openProcess } from './open-process.js'
import { openThread } from './open-thread.js'

export interface IsolatedParts {
  readonly store: Store
  readonly calls: LeasedCalls
  readonly log: Logger
  onFault(doing: string, error: unknown): void
}

// How long a handler has to end after its signal; then the isolate is ended.
const SIGNALLED_MS = 500

export function startIsolatedRun(
  job: ClaimedJob,
  { type, timeoutMs }: RunnableJob,
  isolation: Isolation,
  parts: IsolatedParts,
  onOutcome: OnOutcome,
): Run {
  let reason: HoldfastError | undefined
  let sendAbort = (_: HoldfastError) => {}
  const abort = (why: HoldfastError) => {
    reason ??= why
    sendAbort(reason)
  }
  const run = async (): Promise<Outcome> => {
    const { address, capabilities } = await parts.store.open()
    const database = address && { address, capabilities }
    const task: IsolateTask = { job, type, module: isolation.module, database, schema: parts.store.schema }
    let outcome: Outcome | undefined
    const onMessage = (message: FromIsolate) => {
      if (message.kind === 'outcome') outcome = message.outcome
      else if (message.kind === 'log') parts.log[message.level](message.fields, message.message)
      else {
        const { place, share } = message
        const answer = parts.calls.progress(job, share, message.message).catch(() => false)
        void answer.then((held) => isolate.send({ kind: 'progressed', place, held }))
      }
    }
    const isolate =
      isolation.kind === 'process'
        ? openProcess(task, isolation.memoryMb, onMessage)
        : openThread(task, isolation.memoryMb, onMessage, parts.onFault)
    let killer: NodeJS.Timeout | undefined
    sendAbort = ({ code, message }) => {
      isolate.send({ kind: 'abort', code, message })
      killer ??= setTimeout(() => isolate.kill(), SIGNALLED_MS)
    }
    if (reason) sendAbort(reason)
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => abort(new JobTimedOut(`job ${job.id} ran longer than ${timeoutMs} ms`)), timeoutMs)
    const end = await isolate.ended
    clearTimeout(timer)
    clearTimeout(killer)
    if (outcome) return outcome
    return reason ? outcomeOfAbort(reason, reason) : crashed(job, isolation, end)
  }
  void run()
    .catch((error) => crashed(job, isolation, { what: String(error) }))
    .then(onOutcome)
  return { job, abort }
}

function crashed(job: ClaimedJob, { kind, memoryMb }: Isolation, { what, lastLines }: IsolateEnd): Outcome {
  return failed({
    name: 'IsolateCrashed',
    message: `the ${kind} of job ${job.id} (at most ${memoryMb} MB) ${what}`,
    ...(lastLines && { stack: lastLines }),
  })
}
