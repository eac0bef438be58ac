// Queues, workers and keys.

import { z } from '@hono/zod-openapi'
import { jobPageSchema } from './job.js'
import { countSchema, idSchema, momentSchema } from './page.js'

export const queueSchema = z
  .object({
    name: z.string(),
    pausedAt: momentSchema.nullable(),
    pausedBy: z.string().nullable(),
    pending: countSchema,
    due: countSchema,
    parked: countSchema,
    waiting: countSchema.openapi({ description: 'Jobs whose dependencies have not ended.' }),
    running: countSchema,
    oldestDueAt: momentSchema.nullable(),
    liveWorkers: z.int().openapi({ description: 'Without any, its jobs do not run.' }),
  })
  .openapi('Queue')

export const queueParam = z.object({
  queue: z.string().openapi({ param: { name: 'queue', in: 'path' }, description: 'Percent-encoded.' }),
})

export const changedSchema = z
  .object({ isChanged: z.boolean().openapi({ description: 'False when it was in that state already.' }) })
  .openapi('Changed')

export const workerSchema = z
  .object({
    id: z.string(),
    pod: z.string(),
    pid: z.int(),
    version: z.string(),
    queues: z.array(z.string()),
    types: z.array(z.string()),
    concurrency: z.int(),
    startedAt: momentSchema,
    heartbeatAt: momentSchema,
    heartbeatAgeMs: z.number(),
    rssBytes: z.number().nullable(),
    running: countSchema,
    jobs: z.array(idSchema).openapi({ description: 'The latest claimed.' }),
  })
  .openapi('Worker')

export const keyQuery = z.object({
  key: z.string().min(1).max(512).openapi({ description: 'The text of the key, as jobs show it.' }),
})

export const keySchema = z
  .object({
    key: z.string(),
    holder: idSchema.nullable().openapi({ description: 'The running job that has the key.' }),
    current: idSchema.nullable().openapi({ description: 'The latest started job.' }),
    currentSince: momentSchema.nullable(),
    pending: countSchema,
    history: jobPageSchema.openapi({ description: 'The jobs of the key, newest first.' }),
  })
  .openapi('Key')
