// Pipelines as SQL tests ask for them and look at them.
import { ask, askList, askRow, askValue, type Row, type Session } from './ask.js'
import { givenIn, settlement } from './given.js'

export interface StepWish {
  readonly name: string
  readonly after?: readonly string[]
  readonly [option: string]: unknown
}

/** Steps of type task unless they say otherwise. */
export async function enqueuePipeline(
  session: Session,
  steps: readonly StepWish[],
  pipeline: object = {},
): Promise<{ id: string; result_job: string | null }> {
  return askRow(session, 'select * from holdfast.enqueue_pipeline($1, $2)', [
    JSON.stringify({ name: 'test', input: {}, ...pipeline }),
    JSON.stringify(steps.map((step) => ({ type: 'task', ...step }))),
  ])
}

/** Steps of a pipeline by their name, as sessions of workers and readers meet them. */
export function stepsOf(session: Session, admin: Session, pipeline: string) {
  const jobOf = (step: string) =>
    askValue<string>(admin, 'select job_id from holdfast.pipeline_step where pipeline_id = $1 and name = $2', [
      pipeline,
      step,
    ])
  const leaseOf = async (step: string) => givenIn(session).claimed(await jobOf(step))
  return {
    jobOf,
    leaseOf,
    async complete(step: string, output: unknown = null): Promise<void> {
      const member = { ...(await leaseOf(step)), output }
      await ask(session, 'select * from holdfast.complete_jobs($1)', [settlement(member)])
    },
    async fail(step: string): Promise<void> {
      const member = { ...(await leaseOf(step)), permanent: true, error: { name: 'Error', message: 'broken' } }
      await ask(session, 'select * from holdfast.fail_jobs($1)', [settlement(member)])
    },
    /** State by the name of the step. */
    async states(): Promise<Record<string, string>> {
      const rows = await ask<Row>(admin, 'select step, state from holdfast.jobs where pipeline_id = $1 order by id', [
        pipeline,
      ])
      return Object.fromEntries(rows.map(({ step, state }) => [step, state]))
    },
    order: () =>
      askList<string>(
        admin,
        `select s.name from holdfast.pipeline_step as s where s.pipeline_id = $1 order by s.job_id`,
        [pipeline],
      ),
  }
}
