// Schedules: as stored, and what is sent to make, change and fire them.

import { z } from '@hono/zod-openapi'
import {
  GAP_POLICIES,
  MISSED_POLICIES,
  OVERLAP_POLICIES,
  TICK_STATES,
  TWICE_POLICIES,
} from '../../domain/schedule/schedule.js'
import { failureSchema } from './job.js'
import { idSchema, momentSchema } from './page.js'

const tickJobOptions = {
  queue: z.string().optional(),
  priority: z.int().optional(),
  maxAttempts: z.int().optional(),
  tags: z.array(z.string()).max(100).optional(),
}

const settingsFields = {
  type: z.string(),
  cron: z.string().nullable(),
  everyMs: z.number().nullable(),
  timezone: z.string(),
  gap: z.enum(GAP_POLICIES).nullable(),
  twice: z.enum(TWICE_POLICIES).nullable(),
  startsAt: momentSchema.nullable(),
  endsAt: momentSchema.nullable(),
  missed: z.enum(MISSED_POLICIES),
  windowMs: z.number(),
  overlap: z.enum(OVERLAP_POLICIES),
  jitterMs: z.number(),
  input: z.unknown().optional(),
  inputFromCode: z.boolean(),
  options: z.object(tickJobOptions).loose(),
}

export const scheduleSchema = z
  .object({
    jobKey: z.string(),
    ...settingsFields,
    hidden: z
      .array(z.enum(['input', 'output']))
      .openapi({ description: 'The fields that are hidden without the permission view_input.' }),
    isEnabled: z.boolean(),
    nextTick: momentSchema.nullable(),
    isOver: z.boolean(),
    lastTick: momentSchema.nullable(),
    lastJob: idSchema.nullable(),
    countsFrom: momentSchema,
    version: z.string(),
    lockedBy: z.string().nullable(),
    lockedUntil: momentSchema.nullable(),
    isEdited: z.boolean(),
    code: z.object(settingsFields).nullable(),
    fault: z
      .object({ tick: momentSchema.nullable(), at: momentSchema, times: z.int(), error: failureSchema })
      .nullable(),
  })
  .openapi('Schedule')

export const jobKeyParam = z.object({
  jobKey: z.string().openapi({ param: { name: 'jobKey', in: 'path' }, description: 'Percent-encoded.' }),
})

const duration = z.union([z.string().max(32), z.number().min(0)]).openapi({ example: '15m' })

const timingFields = {
  cron: z.string().max(200),
  every: duration,
  timezone: z.string().max(100),
  gap: z.enum(GAP_POLICIES),
  twice: z.enum(TWICE_POLICIES),
  startsAt: momentSchema,
  endsAt: momentSchema,
  missed: z.enum(MISSED_POLICIES),
  window: duration,
  overlap: z.enum(OVERLAP_POLICIES),
  jitter: duration,
}

export const newScheduleSchema = z
  .strictObject({ jobKey: z.string(), job: z.string(), input: z.unknown().optional() })
  .extend(z.object(timingFields).partial().shape)
  .extend(tickJobOptions)
  .openapi('NewSchedule')

const nullable = Object.fromEntries(
  Object.entries(timingFields).map(([name, schema]) => [name, schema.nullable().optional()]),
) as { [Name in keyof typeof timingFields]: z.ZodOptional<z.ZodNullable<(typeof timingFields)[Name]>> }

export const scheduleChangesSchema = z
  .strictObject({ ...nullable, ...tickJobOptions, input: z.unknown().optional() })
  .nullable()
  .openapi('ScheduleChanges', {
    description:
      'The options to change. null resets an option to its default; null instead of the object resets the schedule to the settings of the code.',
  })

export const triggerSchema = z.strictObject({ input: z.unknown().optional() }).openapi('Trigger')

export const backfillSchema = z.strictObject({ from: momentSchema, to: momentSchema }).openapi('Backfill')

export const backfilledSchema = z.array(z.object({ tick: momentSchema, jobId: idSchema })).openapi('BackfilledTicks')

export const tickSchema = z
  .object({
    tick: momentSchema,
    state: z.enum(TICK_STATES),
    jobId: idSchema.nullable(),
  })
  .openapi('Tick')

export const schedulesQuery = z.object({
  after: z.string().max(100).optional().openapi({ description: 'The last `jobKey` already seen.' }),
  limit: z.coerce.number().int().min(1).max(100).optional(),
})

export const ticksQuery = z.object({
  before: momentSchema.optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
})

export const nextTicksSchema = z.object({ ticks: z.array(momentSchema) }).openapi('NextTicks')
