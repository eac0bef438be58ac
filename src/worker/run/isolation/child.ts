// Runs inside an isolate: imports the module that defines the job, runs its handler, and sends the outcome to the worker.

import type { MessagePort } from 'node:worker_threads'
import { HoldfastError } from '../../../domain/error/errors.js'
import type { JobDefinition } from '../../../domain/job/definition.js'
import type { Logger } from '../../../domain/run/context.js'
import { describeFailure } from '../../../domain/run/failure.js'
import { failed, type Outcome } from '../../../domain/run/outcome.js'
import { encodeInput } from '../../../domain/value/json.js'
import { Store } from '../../../store/store.js'
import { type LeasedCalls, leasedCalls } from '../../leased-calls.js'
import type { RunnableJob } from '../../registry.js'
import { type Run, startRun } from '../runner.js'
import type { FromIsolate, IsolateTask, MarkedMessage, ToIsolate, ToProcess } from './messages.js'

/** Called by Piscina in a thread. */
export async function runInThread({ task, port }: { task: IsolateTask; port: MessagePort }): Promise<void> {
  const inside = new Inside((message) => port.postMessage(message))
  port.on('message', (message: ToIsolate) => inside.receive(message))
  port.postMessage('started')
  await inside.run(task)
  port.close()
}

class Inside {
  readonly #send: (message: FromIsolate) => void
  readonly #unanswered = new Map<number, (held: boolean) => void>()
  #run: Run | undefined

  constructor(send: (message: FromIsolate) => void) {
    this.#send = send
  }

  async run(task: IsolateTask): Promise<void> {
    const { database, schema } = task
    const store = database && new Store({ database, schema, maxConnections: 2 })
    try {
      const definition = await findDefinition(task)
      const outcome = await new Promise<Outcome>((resolve) => {
        this.#run = startRun(task.job, definition, this.#calls(store), () => this.#logger(), resolve)
      })
      this.#send({ kind: 'outcome', outcome })
    } catch (error) {
      this.#send({ kind: 'outcome', outcome: failed(describeFailure(error), { kind: 'never' }) })
    } finally {
      await store?.close()
    }
  }

  receive(message: ToIsolate): void {
    if (message.kind === 'abort') this.#run?.abort(new HoldfastError(message.code, message.message))
    if (message.kind === 'progressed') this.#unanswered.get(message.place)?.(message.held)
  }

  /** Progress goes through the worker, which has a connection; transactions need their own. */
  #calls(store: Store | undefined): LeasedCalls {
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
          const place = this.#unanswered.size + 1
          this.#unanswered.set(place, resolve)
          this.#send({ kind: 'progress', place, share, message })
        }),
      tx: own?.tx ?? (async () => refuse()),
      complete: own?.complete ?? (async () => refuse()),
      readSteps: own?.readSteps ?? (async () => refuse()),
      rememberStep: own?.rememberStep ?? (async () => refuse()),
      pollEvent: own?.pollEvent ?? (async () => refuse()),
    }
  }

  #logger(): Logger {
    const write = (level: keyof Logger) => (fields: object, message?: string) =>
      this.#send({ kind: 'log', level, fields: plain(fields), message: message ?? '' })
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
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

/** Fields that cannot be sent are dropped: the line matters more. */
function plain(fields: object): object {
  try {
    return JSON.parse(encodeInput(fields, 'output'))
  } catch {
    return {}
  }
}

if (process.send) {
  // The worker is gone: no process would receive the outcome, and another worker runs the job.
  process.on('disconnect', () => process.exit())
  let inside: Inside | undefined
  process.on('message', (message: ToProcess) => {
    if (message.kind !== 'run') return inside?.receive(message)
    const { task, token } = message
    inside = new Inside((own) => process.send?.({ token, message: own } satisfies MarkedMessage))
    void inside.run(task).then(() => process.disconnect())
  })
}
