// The front door: names only.

export type { BulkOperations, BulkRequest } from './client/bulk-operations.js'
export type { JobHandle } from './client/handle.js'
export type { Measures, QueueMeasure } from './client/measures.js'
export type { AuditQuery, JobsQuery, Operator } from './client/operator.js'
export type { PageOptions } from './client/page-options.js'
export type { PipelineHandle } from './client/pipeline-handle.js'
export type { OperatorOptions } from './client/producer.js'
export type { Schedules, ScheduleUpdate } from './client/schedules.js'
export type { StatsQuery } from './client/stats.js'
export { type ErrorCode, HoldfastError, isHoldfastError } from './domain/error/errors.js'
export {
  defineJob,
  type GivenOf,
  handle,
  type JobDefinition,
  type KeyValue,
  type OutputOf,
} from './domain/job/definition.js'
export type { EnqueueManyOptions, EnqueueOptions } from './domain/job/enqueue-options.js'
export type { Explanation, Reason, ReasonCode } from './domain/job/explanation.js'
export { formatFilter, parseFilter } from './domain/job/filter-language.js'
export type { AnyJobId, ClaimedJob, Job, JobId, JobState, KeyPolicy } from './domain/job/job.js'
export type { InputCondition, JobFilter } from './domain/job/job-filter.js'
export type { BulkOperation, BulkOperationName } from './domain/operate/bulk-operation.js'
export type { Attempt, AuditEntry, JobPage, JobRow, JobStory, JobVersion } from './domain/operate/job-views.js'
export type { CappedCount, Page } from './domain/operate/page.js'
export type { KeyView, LiveCounts, QueueView } from './domain/operate/queue-views.js'
export type { Spread, StatCount, StatPoint, Stats } from './domain/operate/statistics.js'
export type { WorkerView } from './domain/operate/worker-views.js'
export {
  definePipeline,
  type OnFailure,
  type Pipeline,
  type PipelineBuilder,
  type PipelineDefinition,
  type PipelineProgress,
  type PipelineState,
  type Step,
  type StepList,
  type StepOptions,
} from './domain/pipeline/pipeline.js'
export type { StepResult } from './domain/pipeline/step-results.js'
export { JobCancelled, JobSuperseded, JobTimedOut, LeaseLost, Shutdown } from './domain/run/abort-reasons.js'
export type {
  BeginTransaction,
  ChainableJob,
  ChainOptions,
  JobContext,
  Logger,
  Transaction,
} from './domain/run/context.js'
export type { StepKind, StoredStep, Wait } from './domain/run/durable-step.js'
export type { Failure } from './domain/run/failure.js'
export { NonRetryable, RetryAfter } from './domain/run/handler-errors.js'
export { type Cancel, cancel, type Snooze, snooze } from './domain/run/outcome.js'
export { defineSchedule, type ScheduleDefinition, type ScheduleOptions } from './domain/schedule/define-schedule.js'
export type { Schedule, Tick, TickState } from './domain/schedule/schedule.js'
export type { Duration } from './domain/value/duration.js'
export { createHoldfast, Holdfast, type HoldfastOptions } from './holdfast.js'
export type { EventName, Events, JobReference } from './observe/events.js'
export type { EnqueueCall, Instrument } from './observe/instrument.js'
export type { EmittedEvent } from './store/jobs/durable-steps.js'
export type { StoredLogLine } from './store/jobs/logs.js'
export type { MigrationReport } from './store/schema/migrate.js'
export type { DatabaseOption } from './store/store.js'
export type { WorkerOptions } from './worker/options.js'
