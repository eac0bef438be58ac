// A run whose outcome can be awaited, for the tests of runs.

import type { HoldfastError } from '../../domain/error/errors.js'
import type { Outcome } from '../../domain/run/outcome.js'
import type { OnOutcome, Run } from './runner.js'

export function startedRun(start: (onOutcome: OnOutcome) => Run) {
  let run: Run | undefined
  const outcome = new Promise<Outcome>((resolve) => {
    run = start(resolve)
  })
  return { outcome, abort: (reason: HoldfastError) => run?.abort(reason) }
}
