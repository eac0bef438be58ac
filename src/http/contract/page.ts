// Lists by keyset, and the small shapes that several parts of the contract share.

import { z } from '@hono/zod-openapi'

export const momentSchema = z.iso.datetime().openapi({ example: '2026-11-15T22:30:00.000Z' })

/** A bigint as text: numbers of JSON are exact only up to 2^53. */
export const idSchema = z
  .string()
  .regex(/^\d{1,19}$/)
  .openapi({ example: '42' })

export const idParam = z.object({ id: idSchema.openapi({ param: { name: 'id', in: 'path' } }) })

export const pageQuery = z.object({
  after: z.string().max(1024).optional().openapi({ description: 'The `next` of the page before.' }),
  limit: z.coerce.number().int().min(1).max(200).optional().openapi({ description: 'Rows; by default 50.' }),
})

export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    rows: z.array(row),
    next: z.string().nullable().openapi({ description: 'Pass it as `after` for the next page; null at the end.' }),
  })
}

export const countSchema = z
  .object({ count: z.int(), isCapped: z.boolean().openapi({ description: 'There are more.' }) })
  .openapi('CappedCount')

export function json<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

export function body<Schema extends z.ZodType>(schema: Schema) {
  return { body: { required: true, content: { 'application/json': { schema } } } } as const
}
