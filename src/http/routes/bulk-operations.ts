// Operations on all jobs of a filter: counted first, then done in small steps by the workers, with progress.

import { createRoute } from '@hono/zod-openapi'
import { HoldfastError } from '../../domain/error/errors.js'
import type { BulkOperation } from '../../domain/operate/bulk-operation.js'
import { bulkOperationSchema, bulkRequestSchema } from '../contract/bulk-operation.js'
import { emptySchema } from '../contract/job.js'
import { body, idParam, json, pageOf, pageQuery } from '../contract/page.js'
import { refusals, refusalsOfBody } from '../contract/problem.js'
import { changedSchema } from '../contract/queue.js'
import { scopedFilter } from '../job-scope.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import type { Caller } from '../principal.js'
import { shownOperation } from '../shown-details.js'

const tags = ['Bulk operations']

const start = createRoute({
  method: 'post',
  path: '/bulk-operations',
  operationId: 'startBulkOperation',
  summary: 'Retry or cancel all jobs of a filter',
  description: 'Ask `/job-count` with the same filter beforehand: it says how many jobs it will touch.',
  tags,
  request: body(bulkRequestSchema),
  responses: { 202: json(bulkOperationSchema, 'Workers do it step by step.'), ...refusalsOfBody() },
})

const list = createRoute({
  method: 'get',
  path: '/bulk-operations',
  operationId: 'listBulkOperations',
  summary: 'Bulk operations, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: json(pageOf(bulkOperationSchema), 'A page of operations.'), ...refusals(422) },
})

const show = createRoute({
  method: 'get',
  path: '/bulk-operations/{id}',
  operationId: 'showBulkOperation',
  summary: 'One bulk operation and how far it is',
  tags,
  request: { params: idParam },
  responses: { 200: json(bulkOperationSchema, 'The operation.'), ...refusals(404, 422) },
})

const cancel = createRoute({
  method: 'post',
  path: '/bulk-operations/{id}/cancel',
  operationId: 'cancelBulkOperation',
  summary: 'Stop a bulk operation; what is done stays done',
  tags,
  request: { params: idParam, ...body(emptySchema) },
  responses: { 200: json(changedSchema, 'It goes no further.'), ...refusalsOfBody(404) },
})

export function bulkOperationRoutes({ client, options: { redaction } }: Parts): App {
  const app = newRoutes()
  const { bulk } = client.operator

  app.openapi(start, async (c) => {
    const { operation, filter, reason } = c.req.valid('json')
    const caller = allowed(c, 'view', operation)
    const scoped = scopedFilter(filter, caller, redaction)
    if (!scoped) throw new HoldfastError('INVALID_REQUEST', 'no job that you see can fit this filter')
    const request = given({ operation, filter: scoped, reason, actor: caller.name })
    const started = await bulk.start(request)
    c.header('location', `bulk-operations/${started.id}`)
    return send(c, shownOperation(started, caller, redaction), 202)
  })

  app.openapi(list, async (c) => {
    const caller = allowed(c, 'view')
    const page = await bulk.list(given(c.req.valid('query')))
    const seen = page.rows.filter((operation) => isVisible(operation, caller))
    return send(c, { ...page, rows: seen.map((operation) => shownOperation(operation, caller, redaction)) })
  })

  app.openapi(show, async (c) => {
    const caller = allowed(c, 'view')
    const operation = visible(await bulk.find(c.req.valid('param').id), caller)
    return send(c, shownOperation(operation, caller, redaction))
  })

  app.openapi(cancel, async (c) => {
    const caller = allowed(c, 'view')
    const { id, operation } = visible(await bulk.find(c.req.valid('param').id), caller)
    caller.require(operation)
    return send(c, { isChanged: await bulk.cancel(id, { actor: caller.name }) })
  })

  return app
}

function visible(operation: BulkOperation | undefined, caller: Caller): BulkOperation {
  if (operation && isVisible(operation, caller)) return operation
  throw new HoldfastError('NOT_FOUND', 'there is no such bulk operation')
}

/** One that reaches into queues which the principal does not see does not exist for it. */
function isVisible({ filter }: BulkOperation, caller: Caller): boolean {
  if (caller.queues === undefined) return true
  const { queues } = filter as { queues?: unknown }
  return Array.isArray(queues) && queues.every((queue) => caller.sees(String(queue)))
}
