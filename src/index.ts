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
export { JobCancelled, JobSuperseded, JobTimedOut, LeaseLost, Shutdown } from './domain/job/abort-reasons.js'
export type {
  BeginTransaction,
  ChainableJob,
  ChainOptions,
  JobContext,
  Logger,
  Transaction,
} from './domain/job/context.js'
export {
  defineJob,
  type GivenOf,
  handle,
  type JobDefinition,
  type KeyValue,
  type OutputOf,
} from './domain/job/definition.js'
export type { StepKind, StoredStep, Wait } from './domain/job/durable-step.js'
export type { EnqueueManyOptions, EnqueueOptions } from './domain/job/enqueue-options.js'
export type { Explanation, Reason, ReasonCode } from './domain/job/explanation.js'
export type { Failure } from './domain/job/failure.js'
export { formatFilter, parseFilter } from './domain/job/filter-language.js'
export { NonRetryable, RetryAfter } from './domain/job/handler-errors.js'
export type { AnyJobId, ClaimedJob, Job, JobId, JobState, KeyPolicy } from './domain/job/job.js'
export type { InputCondition, JobFilter } from './domain/job/job-filter.js'
export { type Cancel, cancel, type Snooze, snooze } from './domain/job/outcome.js'
export type {
  Attempt,
  AuditEntry,
  BulkOperation,
  BulkOperationName,
  CappedCount,
  JobPage,
  JobRow,
  JobStory,
  JobVersion,
  KeyView,
  LiveCounts,
  Page,
  QueueView,
  Spread,
  StatCount,
  StatPoint,
  Stats,
  WorkerView,
} from './domain/operate/operator-views.js'
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
export {
  defineSchedule,
  type Schedule,
  type ScheduleDefinition,
  type ScheduleOptions,
  type Tick,
  type TickState,
} from './domain/schedule/schedule.js'
export type { Duration } from './domain/value/duration.js'
export { createHoldfast, Holdfast, type HoldfastOptions } from './holdfast.js'
export type { EventName, Events, JobReference } from './observe/events.js'
export type { EnqueueCall, Instrument } from './observe/instrument.js'
export type { EmittedEvent } from './store/jobs/durable-steps.js'
export type { StoredLogLine } from './store/jobs/logs.js'
export type { MigrationReport } from './store/schema/migrate.js'
export type { DatabaseOption } from './store/store.js'
export type { WorkerOptions } from './worker/options.js'
