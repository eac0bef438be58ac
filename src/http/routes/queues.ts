// Queues, workers and keys.

import { createRoute } from '@hono/zod-openapi'
import { HoldfastError } from '../../domain/error/errors.js'
import { checkQueueName } from '../../domain/job/job.js'
import { emptySchema } from '../contract/job.js'
import { body, json, pageOf, pageQuery } from '../contract/page.js'
import { refusals, refusalsOfBody } from '../contract/problem.js'
import { changedSchema, keyQuery, keySchema, queueParam, queueSchema, workerSchema } from '../contract/queue.js'
import { checkVisibleQueue } from '../job-scope.js'
import { allQueues } from '../live-counts.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import type { Caller } from '../principal.js'

const list = createRoute({
  method: 'get',
  path: '/queues',
  operationId: 'listQueues',
  summary: 'Queues by name, with what waits and runs in them',
  tags: ['Queues'],
  request: { query: pageQuery },
  responses: { 200: json(pageOf(queueSchema), 'A page of queues.'), ...refusals(422) },
})

const show = createRoute({
  method: 'get',
  path: '/queues/{queue}',
  operationId: 'showQueue',
  summary: 'One queue',
  tags: ['Queues'],
  request: { params: queueParam },
  responses: { 200: json(queueSchema, 'The queue.'), ...refusals(404, 422) },
})

const switching = (operation: 'pause' | 'resume', summary: string) =>
  createRoute({
    method: 'post',
    path: `/queues/{queue}/${operation}`,
    operationId: `${operation}Queue`,
    summary,
    tags: ['Queues'],
    request: { params: queueParam, ...body(emptySchema) },
    responses: { 200: json(changedSchema, 'It is done.'), ...refusalsOfBody(404) },
  })

const workers = createRoute({
  method: 'get',
  path: '/workers',
  operationId: 'listWorkers',
  summary: 'Workers by id, with what they run',
  tags: ['Workers'],
  request: { query: pageQuery },
  responses: { 200: json(pageOf(workerSchema), 'A page of workers.'), ...refusals(422) },
})

const key = createRoute({
  method: 'get',
  path: '/keys',
  operationId: 'showKey',
  summary: 'One key: its holder, how many jobs wait for it, and its jobs',
  tags: ['Keys'],
  request: { query: keyQuery.extend(pageQuery.shape) },
  responses: { 200: json(keySchema, 'The key.'), ...refusals(404, 422) },
})

export function queueRoutes({ client }: Parts): App {
  const app = newRoutes()

  app.openapi(list, async (c) => {
    const caller = allowed(c, 'view')
    const page = await client.operator.queues(given(c.req.valid('query')))
    return send(c, { ...page, rows: page.rows.filter(({ name }) => caller.sees(name)) })
  })

  app.openapi(show, async (c) => {
    const caller = allowed(c, 'view')
    const name = checkVisibleQueue(caller, checkQueueName(c.req.valid('param').queue))
    const queue = (await allQueues(client)).find((one) => one.name === name)
    if (!queue) throw new HoldfastError('NOT_FOUND', `there is no queue ${JSON.stringify(name)}`)
    return send(c, queue)
  })

  app.openapi(switching('pause', 'Claim no more jobs of a queue; what runs goes on'), async (c) => {
    const caller = allowed(c, 'pause')
    const queue = checkVisibleQueue(caller, c.req.valid('param').queue)
    return send(c, { isChanged: await client.pause(queue, { actor: caller.name }) })
  })

  app.openapi(switching('resume', 'Claim jobs of a queue again'), async (c) => {
    const caller = allowed(c, 'pause')
    const queue = checkVisibleQueue(caller, c.req.valid('param').queue)
    return send(c, { isChanged: await client.resume(queue, { actor: caller.name }) })
  })

  app.openapi(workers, async (c) => {
    const caller = allowed(c, 'view')
    const page = await client.operator.workers(given(c.req.valid('query')))
    return send(c, { ...page, rows: page.rows.filter(({ queues }) => queues.some((queue) => caller.sees(queue))) })
  })

  app.openapi(key, async (c) => {
    const caller = allowed(c, 'view')
    const { key, ...page } = given(c.req.valid('query'))
    const [view, history] = await Promise.all([
      client.operator.key(key),
      client.operator.jobs({ ...page, filter: { key, ...scopeOf(caller) } }),
    ])
    // A key may be shared between queues; for who sees only some of them it exists if a job of theirs has it.
    const isVisible = caller.queues === undefined || history.rows.length > 0
    if (!view || !isVisible) throw new HoldfastError('NOT_FOUND', 'no job of this key has started, and none is pending')
    return send(c, { ...view, history })
  })

  return app
}

function scopeOf({ queues }: Caller) {
  return queues && { queues }
}
