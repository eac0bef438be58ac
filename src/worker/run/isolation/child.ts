// The inside of an isolate: imports the module that defines the job, runs its handler, and tells the outcome.

import type { MessagePort } from 'node:worker_threads'
import { HoldfastError } from '../../../domain/error/errors.js'
import type { Logger } from '../../../domain/job/context.js'
import type { JobDefinition } from '../../../domain/job/definition.js'
import { describeFailure } from '../../../domain/job/failure.js'
import { failed, type Outcome } from '../../../domain/job/outcome.js'
import { encodeInput } from '../../../domain/value/json.js'
import { Store } from '../../../store/store.js'
import type { RunnableJob } from '../../registry.js'
import { leasedCalls } from '../leased-calls.js'
import type { LeasedCalls } from '../run-context.js'
import { type Run, startRun } from '../runner.js'
import type { FromIsolate, IsolateTask, ToIsolate } from './messages.js'

/** Called by Piscina in a thread. */
export async function runInThread({ task, port }: { task: IsolateTask; port: MessagePort }): Promise<void> {
  const inside = new Inside((message) => port.postMessage(message))
  port.on('message', (message: ToIsolate) => inside.hear(message))
  await inside.run(task)
  port.close()
}

class Inside {
  readonly #tell: (message: FromIsolate) => void
  readonly #asked = new Map<number, (held: boolean) => void>()
  #run: Run | undefined

  constructor(tell: (message: FromIsolate) => void) {
    this.#tell = tell
  }

  async run(task: IsolateTask): Promise<void> {
    const { database, schema } = task
    const store = database && new Store({ database, schema, maxConnections: 2 })
    try {
      const definition = await findDefinition(task)
      const outcome = await new Promise<Outcome>((resolve) => {
        this.#run = startRun(task.job, definition, this.#operations(store), () => this.#logger(), resolve)
      })
      this.#tell({ kind: 'outcome', outcome })
    } catch (error) {
      this.#tell({ kind: 'outcome', outcome: failed(describeFailure(error), { kind: 'never' }) })
    } finally {
      await store?.close()
    }
  }

  hear(message: ToIsolate): void {
    if (message.kind === 'abort') this.#run?.abort(new HoldfastError(message.code, message.message))
    if (message.kind === 'progressed') this.#asked.get(message.place)?.(message.held)
  }

  /** Progress goes through the worker, which has a connection; transactions need one of their own. */
  #operations(store: Store | undefined): LeasedCalls {
    const own = store && leasedCalls(store)
    const refuse = () => {
      throw new HoldfastError(
        'INVALID_OPTION',
        'an isolated job has ctx.tx, steps and waits only on a database server, given by its URL',
      )
    }
    return {
      progress: (_, share, message) =>
        new Promise((resolve) => {
          const place = this.#asked.size + 1
          this.#asked.set(place, resolve)
          this.#tell({ kind: 'progress', place, share, message })
        }),
      tx: own?.tx ?? (async () => refuse()),
      complete: own?.complete ?? (async () => refuse()),
      readSteps: own?.readSteps ?? (async () => refuse()),
      rememberStep: own?.rememberStep ?? (async () => refuse()),
      pollEvent: own?.pollEvent ?? (async () => refuse()),
    }
  }

  #logger(): Logger {
    const say = (level: keyof Logger) => (fields: object, message?: string) =>
      this.#tell({ kind: 'log', level, fields: plain(fields), message: message ?? '' })
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
  }
}

/** The module's export with the job's type and a handler. */
async function findDefinition({ module, type }: IsolateTask): Promise<RunnableJob> {
  const exported: Record<string, unknown> = await import(module)
  const found = Object.values(exported).find(
    (value) => (value as JobDefinition | null)?.type === type && (value as JobDefinition).run !== undefined,
  )
  if (found) return { ...(found as RunnableJob), timeoutMs: undefined }
  throw new HoldfastError('UNKNOWN_TYPE', `${module} exports no job of type "${type}" with a handler`)
}

/** What cannot be sent is not worth losing the line for. */
function plain(fields: object): object {
  try {
    return JSON.parse(encodeInput(fields, 'output'))
  } catch {
    return {}
  }
}

if (process.send) {
  // Its worker is gone: nobody would hear the outcome, and another worker will run the job.
  process.on('disconnect', () => process.exit())
  const inside = new Inside((message) => process.send?.(message))
  process.on('message', (message: ToIsolate) => {
    if (message.kind === 'run') void inside.run(message.task).then(() => process.disconnect())
    else inside.hear(message)
  })
}
