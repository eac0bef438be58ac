// The results of steps, from which the inputs of later steps are computed.

import type { Failure } from '../run/failure.js'

/** The result of a step, as later steps see it in a pipeline with `onFailure: 'continue'`. */
export type StepResult<Output = unknown> =
  | { readonly state: 'completed'; readonly output: Output }
  | { readonly state: 'failed' | 'cancelled' | 'superseded'; readonly error: Failure | null }

/** What the computation of a step's input needs. */
export interface StepResults {
  readonly pipeline: string
  readonly input: unknown
  readonly step: string
  /** The name of the step that this job takes back. */
  readonly compensates: string | null
  readonly results: Readonly<Record<string, StepResult>>
}
