// The handlers of this process: a worker claims only types that are in here.

import { HoldfastError } from '../domain/error/errors.js'
import { indexByType, type JobDefinition } from '../domain/job/definition.js'

export interface RunnableJob extends JobDefinition {
  run: NonNullable<JobDefinition['run']>
}

export class Registry {
  readonly #byType: ReadonlyMap<string, JobDefinition>
  readonly types: readonly string[]
  readonly queues: readonly string[]

  constructor(definitions: readonly JobDefinition[]) {
    this.#byType = indexByType(definitions.filter((definition) => definition.run !== undefined))
    this.types = [...this.#byType.keys()]
    this.queues = [...new Set([...this.#byType.values()].map((definition) => definition.queue))]
  }

  get definitions(): readonly JobDefinition[] {
    return [...this.#byType.values()]
  }

  get shortestLeaseMs(): number {
    return this.definitions.reduce((shortest, { leaseMs }) => Math.min(shortest, leaseMs), Number.POSITIVE_INFINITY)
  }

  handlerFor(type: string): RunnableJob {
    const definition = this.#byType.get(type)
    if (definition?.run) return definition as RunnableJob
    throw new HoldfastError('UNKNOWN_TYPE', `this process has no handler for jobs of type "${type}"`, {
      details: { received: type, known: this.types },
    })
  }
}
