// Who did what by hand.

import { z } from '@hono/zod-openapi'
import { idSchema, momentSchema, pageQuery } from './page.js'

export const auditEntrySchema = z
  .object({
    id: idSchema,
    at: momentSchema,
    actor: z.string(),
    action: z.string(),
    jobId: idSchema.nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .openapi('AuditEntry')

export const auditQuery = pageQuery.extend({
  jobId: idSchema.optional(),
  actor: z.string().max(200).optional(),
  action: z.string().max(100).optional(),
})
