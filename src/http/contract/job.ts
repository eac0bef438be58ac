// Jobs: rows of lists, one job with its past, log lines, and what is sent to enqueue and to act.

import { z } from '@hono/zod-openapi'
import { REASON_CODES } from '../../domain/job/explanation.js'
import { JOB_STATES, KEY_POLICIES } from '../../domain/job/job.js'
import { auditEntrySchema } from './audit.js'
import { idSchema, momentSchema, pageOf } from './page.js'

export const stateSchema = z.enum(JOB_STATES).openapi('JobState')

export const failureSchema = z
  .object({ name: z.string(), message: z.string() })
  .loose()
  .openapi('Failure', { description: 'May also have stack, code, cause, issues and thrown.' })

const sharedFields = {
  id: idSchema,
  type: z.string(),
  queue: z.string(),
  priority: z.int(),
  state: stateSchema,
  key: z.string().nullable(),
  keyPolicy: z.enum(KEY_POLICIES).nullable(),
  attempts: z.int(),
  maxAttempts: z.int(),
  progress: z.number().nullable().openapi({ description: '0 to 1.' }),
  statusMessage: z.string().nullable(),
  lockedBy: z.string().nullable(),
  lockedAt: momentSchema.nullable(),
  pipelineId: z.uuid().nullable(),
  step: z.string().nullable().openapi({ description: 'Its name in its pipeline.' }),
  tags: z.array(z.string()),
  createdAt: momentSchema,
  runAt: momentSchema,
  finishedAt: momentSchema.nullable(),
}

export const jobRowSchema = z
  .object({
    ...sharedFields,
    error: failureSchema.nullable(),
    isParked: z.boolean().openapi({ description: 'Waits for the holder of its key.' }),
  })
  .openapi('JobRow')

export const jobPageSchema = pageOf(jobRowSchema)
  .extend({
    isFull: z.boolean().openapi({
      description: 'False when the page ended early because it had scanned the most jobs that one call may.',
    }),
    searchedTo: momentSchema.nullable().openapi({ description: 'The moment of the last scanned job.' }),
  })
  .openapi('JobPage')

export const jobSchema = z
  .object({
    ...sharedFields,
    error: failureSchema.nullable(),
    input: z.unknown().optional(),
    output: z.unknown().optional(),
    hidden: z
      .array(z.enum(['input', 'output']))
      .openapi({ description: 'What is left out for want of the permission view_input.' }),
    isCurrent: z.boolean(),
    token: z.string(),
    lockedUntil: momentSchema.nullable(),
    dedupeId: z.string().nullable(),
    trace: z.string().nullable().openapi({ description: 'The W3C traceparent of what enqueued it.' }),
  })
  .openapi('Job')

export const attemptSchema = z
  .object({
    token: z.string(),
    attempt: z.int(),
    verdict: z.enum(['failed', 'lost']),
    worker: z.string(),
    startedAt: momentSchema,
    endedAt: momentSchema,
    error: failureSchema.nullable(),
  })
  .openapi('Attempt')

export const stepSchema = z
  .object({
    kind: z.enum(['step', 'sleep', 'event']),
    name: z.string(),
    output: z.unknown().optional().openapi({ description: "Left out with the job's output." }),
    isOver: z
      .boolean()
      .openapi({ description: 'The step has its output, the sleep has passed, the event came or not.' }),
    isGivenUp: z.boolean().openapi({ description: 'The time was over before the event came.' }),
    event: z.string().nullable(),
    wakeAt: momentSchema.nullable().openapi({ description: 'When the sleep ends, or the wait times out.' }),
    at: momentSchema,
  })
  .openapi('RememberedStep')

export const explanationSchema = z
  .object({
    jobId: idSchema,
    reasons: z.array(
      z
        .object({
          code: z.enum(REASON_CODES),
          text: z.string(),
          facts: z.record(z.string(), z.unknown()).openapi({ description: 'The values in the text.' }),
        })
        .openapi('Reason'),
    ),
    text: z.string(),
    expectedStart: momentSchema.nullable().openapi({ description: 'null when it is unknown.' }),
  })
  .openapi('Explanation')

export const jobStorySchema = z
  .object({
    job: jobSchema,
    version: z.string().openapi({ description: 'Another text after every change of the job.' }),
    attempts: z.array(attemptSchema).openapi({ description: 'Failed and lost ones, newest first.' }),
    audit: z.array(auditEntrySchema).openapi({ description: 'The operations of operators, newest first.' }),
    lastLog: idSchema.openapi({ description: 'Of its last log line; "0" when it has none.' }),
    steps: z
      .array(stepSchema)
      .openapi({ description: 'What its handler has remembered and what it waits for, oldest first.' }),
    explanation: explanationSchema.openapi({ description: 'Why it does not run, or how it ended.' }),
  })
  .openapi('JobStory')

export const logLineSchema = z
  .object({
    id: idSchema,
    token: z.string(),
    at: momentSchema,
    level: z.enum(['debug', 'info', 'warn', 'error']),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()),
  })
  .openapi('LogLine')

const duration = z
  .union([z.string().max(32), z.number().min(0)])
  .openapi({ description: 'Like `5m`, or milliseconds.', example: '5m' })

export const enqueueSchema = z
  .strictObject({
    type: z.string(),
    input: z.unknown(),
    queue: z.string().optional(),
    priority: z.int().optional(),
    runAt: momentSchema.optional(),
    delay: duration.optional(),
    key: z.union([z.string(), z.number(), z.boolean(), z.record(z.string(), z.unknown())]).optional(),
    keyPolicy: z.enum(KEY_POLICIES).optional(),
    coalesce: z.enum(['replace', 'keep']).optional(),
    maxAttempts: z.int().optional(),
    pipelineId: z.uuid().optional(),
    tags: z.array(z.string()).max(100).optional(),
    dedupeId: z.string().optional(),
  })
  .openapi('NewJob')

export const enqueuedSchema = z.object({ id: idSchema }).openapi('EnqueuedJob')

export const cancelSchema = z.strictObject({ reason: z.string().max(1000).optional() }).openapi('Cancellation')

export const emptySchema = z.strictObject({}).openapi('NoFields')

export const actedSchema = z
  .object({ id: idSchema, state: stateSchema.openapi({ description: 'The state that the job was in before.' }) })
  .openapi('ActedJob')

export const jobTypeSchema = z
  .object({
    type: z.string(),
    queue: z.string(),
    priority: z.int(),
    maxAttempts: z.int(),
    inputSchema: z
      .record(z.string(), z.unknown())
      .nullable()
      .openapi({ description: 'As JSON Schema; null where the validator cannot say it.' }),
  })
  .openapi('JobType')
