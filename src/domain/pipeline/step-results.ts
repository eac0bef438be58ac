// What steps of a pipeline have come to, and what the input of the next one is computed from.

import type { Failure } from '../run/failure.js'

/** What a step came to, as those after it see it where a pipeline goes on after failures. */
export type StepResult<Output = unknown> =
  | { readonly state: 'completed'; readonly output: Output }
  | { readonly state: 'failed' | 'cancelled' | 'superseded'; readonly error: Failure | null }

/** What the database knows of a step whose input is to be computed. */
export interface StepResults {
  readonly pipeline: string
  readonly input: unknown
  readonly step: string
  /** The name of the step that this job takes back. */
  readonly compensates: string | null
  readonly results: Readonly<Record<string, StepResult>>
}
