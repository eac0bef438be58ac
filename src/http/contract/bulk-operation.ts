// Operations on all jobs of a filter.

import { z } from '@hono/zod-openapi'
import { BULK_OPERATIONS } from '../../domain/operate/bulk-operation.js'
import { failureSchema } from './job.js'
import { countSchema, idSchema, momentSchema } from './page.js'

export const filterText = z
  .string()
  .max(4096)
  .openapi({ description: 'A filter.', example: 'state:failed type:csv_ingest since:24h' })

export const bulkRequestSchema = z
  .strictObject({
    operation: z.enum(BULK_OPERATIONS),
    filter: filterText,
    reason: z.string().max(1000).optional(),
  })
  .openapi('BulkRequest')

export const bulkOperationSchema = z
  .object({
    id: idSchema,
    operation: z.enum(BULK_OPERATIONS),
    filter: z.record(z.string(), z.unknown()),
    reason: z.string().nullable(),
    askedBy: z.string(),
    askedAt: momentSchema,
    state: z.enum(['open', 'completed', 'cancelled']),
    expected: countSchema,
    done: z.int(),
    skipped: z.int(),
    failed: z.int(),
    error: failureSchema.nullable(),
    finishedAt: momentSchema.nullable(),
  })
  .openapi('BulkOperation')
