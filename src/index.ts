// The front door: names only.

export type { AnyJobId, DeedOptions } from './client/client.js'
export type { EnqueueManyOptions, EnqueueOptions } from './client/enqueue.js'
export type { JobHandle } from './client/handle.js'
export type { Measures, QueueMeasure } from './client/measures.js'
export type { Schedules, ScheduleUpdate } from './client/schedules.js'
export { JobCancelled, JobSuperseded, JobTimedOut, LeaseLost, Shutdown } from './domain/abort-reasons.js'
export type { BeginTransaction, JobContext, Logger, Transaction } from './domain/context.js'
export {
  defineJob,
  type GivenOf,
  handle,
  type JobDefinition,
  type KeyValue,
  type OutputOf,
} from './domain/definition.js'
export type { Duration } from './domain/duration.js'
export { type ErrorCode, HoldfastError, isHoldfastError } from './domain/errors.js'
export type { Failure } from './domain/failure.js'
export { NonRetryable, RetryAfter } from './domain/handler-errors.js'
export type { ClaimedJob, Job, JobId, JobState, KeyPolicy } from './domain/job.js'
export { type Cancel, cancel, type Snooze, snooze } from './domain/outcome.js'
export {
  defineSchedule,
  type Schedule,
  type ScheduleDefinition,
  type ScheduleOptions,
  type Tick,
  type TickState,
} from './domain/schedule.js'
export { createHoldfast, Holdfast, type HoldfastOptions } from './holdfast.js'
export type { EventName, Events, JobFact } from './observe/events.js'
export type { EnqueueFact, Instrument } from './observe/instrument.js'
export type { StoredLogLine } from './store/logs.js'
export type { MigrationReport } from './store/migrate.js'
export type { DatabaseOption } from './store/open.js'
export type { WorkerOptions } from './worker/options.js'
