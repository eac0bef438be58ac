// The memory of one job as its runs see it, without a database.
import type { StepKind, StoredStep } from '../../domain/run/durable-step.js'
import type { DurableStepCalls } from '../leased-calls.js'

export interface StepStore {
  /** By kind and name. */
  readonly steps: Map<string, StoredStep>
  /** Emitted events with their payloads. */
  readonly events: Map<string, unknown>
}

export function stepStore(): StepStore {
  return { steps: new Map(), events: new Map() }
}

/** As the database has it: what is over has an output, given up without one. */
export function stored(kind: StepKind, name: string, more: Partial<StoredStep> = {}): StoredStep {
  const wait = { output: null, isOver: true, isGivenUp: false, event: null, wakeAt: null, at: new Date(0) }
  return { kind, name, ...wait, ...more }
}

export function durableStepCalls(store: StepStore = stepStore()): DurableStepCalls {
  return {
    readSteps: async () => [...store.steps.values()],
    async rememberStep(_, name, output) {
      store.steps.set(`step ${name}`, stored('step', name, { output: JSON.parse(output) }))
    },
    pollEvent: async (_, __, event) =>
      store.events.has(event) ? { payload: store.events.get(event), isTimeout: false } : undefined,
  }
}
