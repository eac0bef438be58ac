// Who is asking.

import { z } from '@hono/zod-openapi'
import { PERMISSIONS } from '../principal.js'

export const principalSchema = z
  .object({
    name: z.string(),
    permissions: z.array(z.enum(PERMISSIONS)),
    queues: z.array(z.string()).nullable().openapi({ description: 'null: all.' }),
  })
  .openapi('Principal')
