// What happened when, how long it took, and what is alive now.

import { z } from '@hono/zod-openapi'
import { STAT_COUNTS } from '../../domain/operate/statistics.js'
import { countSchema, momentSchema } from './page.js'

const spreadSchema = z
  .object({
    count: z.number(),
    meanMs: z.number().nullable(),
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
    p99Ms: z.number().nullable(),
  })
  .openapi('Spread')

const totalSchema = z
  .object({ counts: z.record(z.enum(STAT_COUNTS), z.number()), wait: spreadSchema, run: spreadSchema })
  .openapi('StatTotal')

export const statsSchema = z
  .object({
    since: momentSchema,
    until: momentSchema,
    stepMs: z.number(),
    countedTo: momentSchema.nullable().openapi({ description: 'Later minutes still grow.' }),
    points: z.array(totalSchema.extend({ from: momentSchema }).openapi('StatPoint')),
    total: totalSchema,
  })
  .openapi('Stats')

const momentOrSpan = z.string().max(40).openapi({ description: 'A moment, or a span before now like `24h`.' })

export const statsQuery = z.object({
  since: momentOrSpan.optional(),
  until: momentOrSpan.optional(),
  step: z.string().max(40).optional().openapi({ description: 'Whole minutes, like `5m`.' }),
  queue: z.union([z.string(), z.array(z.string()).max(50)]).optional(),
  type: z.union([z.string(), z.array(z.string()).max(50)]).optional(),
})

export const liveSchema = z
  .object({ pending: countSchema, waiting: countSchema, running: countSchema, workers: z.int() })
  .openapi('LiveCounts')
