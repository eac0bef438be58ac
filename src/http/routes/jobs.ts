// Jobs: lists, one job with its past, its log lines, and what an operator does to it.

import { createRoute, z } from '@hono/zod-openapi'
import type { EnqueueOptions } from '../../domain/job/enqueue-options.js'
import type { Duration } from '../../domain/value/duration.js'
import { filterText } from '../contract/bulk-operation.js'
import {
  actedSchema,
  cancelSchema,
  emptySchema,
  enqueuedSchema,
  enqueueSchema,
  jobPageSchema,
  jobStorySchema,
  logLineSchema,
} from '../contract/job.js'
import { body, countSchema, idParam, idSchema, json, pageQuery } from '../contract/page.js'
import { refusals, refusalsOfBody } from '../contract/problem.js'
import { checkVisibleQueue, jobNotFound, scopedFilter, visibleJob } from '../job-scope.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import { shownEntry } from '../shown-details.js'
import { shownExplanation, shownJob, shownStep } from '../shown-jobs.js'

const tags = ['Jobs']
const filter = filterText.optional()

const list = createRoute({
  method: 'get',
  path: '/jobs',
  operationId: 'listJobs',
  summary: 'Jobs that fit a filter, newest first',
  tags,
  request: { query: pageQuery.extend({ filter }) },
  responses: { 200: json(jobPageSchema, 'A page of jobs.'), ...refusals(422) },
})

const count = createRoute({
  method: 'get',
  path: '/job-count',
  operationId: 'countJobs',
  summary: 'How many jobs fit a filter, counted up to 10,000',
  tags,
  request: { query: z.object({ filter }) },
  responses: { 200: json(countSchema, 'The count.'), ...refusals(422) },
})

const enqueue = createRoute({
  method: 'post',
  path: '/jobs',
  operationId: 'enqueueJob',
  summary: 'Enqueue a job of a type that this program defines',
  tags,
  request: body(enqueueSchema),
  responses: { 201: json(enqueuedSchema, 'It is stored.'), ...refusalsOfBody(404) },
})

const show = createRoute({
  method: 'get',
  path: '/jobs/{id}',
  operationId: 'showJob',
  summary: 'One job with its attempts, steps, the operations of operators, and why it does not run',
  tags,
  request: { params: idParam },
  responses: { 200: json(jobStorySchema, 'The job.'), ...refusals(404, 422) },
})

const logs = createRoute({
  method: 'get',
  path: '/jobs/{id}/logs',
  operationId: 'readJobLogs',
  summary: 'The lines that its handler logged, oldest first',
  tags,
  request: {
    params: idParam,
    query: z.object({
      after: idSchema.optional().openapi({ description: 'The id of the last line already seen.' }),
      limit: z.coerce.number().int().min(1).max(1000).optional(),
    }),
  },
  responses: { 200: json(z.object({ rows: z.array(logLineSchema) }), 'Lines.'), ...refusals(404, 422) },
})

const operation = { tags, method: 'post' } as const

const cancel = createRoute({
  ...operation,
  path: '/jobs/{id}/cancel',
  operationId: 'cancelJob',
  summary: 'Cancel a pending, waiting or running job',
  request: { params: idParam, ...body(cancelSchema) },
  responses: { 200: json(actedSchema, 'It is cancelled.'), ...refusalsOfBody(404, 409) },
})

const retry = createRoute({
  ...operation,
  path: '/jobs/{id}/retry',
  operationId: 'retryJob',
  summary: 'Run a finished job again, with new attempts',
  request: { params: idParam, ...body(emptySchema) },
  responses: { 200: json(actedSchema, 'It is pending again.'), ...refusalsOfBody(404, 409) },
})

const recover = createRoute({
  ...operation,
  path: '/jobs/{id}/recover',
  operationId: 'recoverJob',
  summary: 'Take a running job from a holder that is stuck',
  description: 'Refused with 409 NOT_STALE when it was claimed less than STALE_JOB_TIMEOUT_MINUTES (30) ago.',
  request: { params: idParam, ...body(emptySchema) },
  responses: { 200: json(actedSchema, 'It is pending again, with fresh attempts.'), ...refusalsOfBody(404, 409) },
})

export function jobRoutes({ client, options: { redaction } }: Parts): App {
  const app = newRoutes()

  app.openapi(list, async (c) => {
    const caller = allowed(c, 'view')
    const { filter = '', ...page } = given(c.req.valid('query'))
    const scoped = scopedFilter(filter, caller, redaction)
    if (!scoped) return send(c, { rows: [], next: null, isFull: true, searchedTo: null })
    return send(c, await client.operator.jobs({ ...page, filter: scoped }))
  })

  app.openapi(count, async (c) => {
    const caller = allowed(c, 'view')
    const scoped = scopedFilter(c.req.valid('query').filter ?? '', caller, redaction)
    return send(c, scoped ? await client.operator.count(scoped) : { count: 0, isCapped: false })
  })

  app.openapi(enqueue, async (c) => {
    const caller = allowed(c, 'enqueue')
    const { type, input, runAt, delay, ...rest } = c.req.valid('json')
    const queue = rest.queue ?? client.definitions.get(type)?.queue
    if (queue !== undefined) checkVisibleQueue(caller, queue)
    const options = given({ ...rest, delay: delay as Duration, runAt: runAt && new Date(runAt), actor: caller.name })
    const { id } = await client.enqueue(type, input, options as EnqueueOptions)
    c.header('location', `jobs/${id}`)
    return send(c, { id }, 201)
  })

  app.openapi(show, async (c) => {
    const caller = allowed(c, 'view')
    const { id } = c.req.valid('param')
    const story = await client.operator.job(id)
    if (!story || !caller.sees(story.job.queue)) throw jobNotFound(id)
    return send(c, {
      ...story,
      job: shownJob(story.job, caller, redaction),
      audit: story.audit.map((entry) => shownEntry(entry, caller, redaction)),
      steps: story.steps.map((step) => shownStep(step, story.job.type, caller, redaction)),
      explanation: shownExplanation(story.explanation, caller),
    })
  })

  app.openapi(logs, async (c) => {
    const caller = allowed(c, 'view')
    const { id } = await visibleJob(client, caller, c.req.valid('param').id)
    return send(c, { rows: await client.logs(id, given(c.req.valid('query'))) })
  })

  app.openapi(cancel, async (c) => {
    const caller = allowed(c, 'cancel')
    const { id } = await visibleJob(client, caller, c.req.valid('param').id)
    return send(c, { id, state: await client.cancel(id, { ...given(c.req.valid('json')), actor: caller.name }) })
  })

  app.openapi(retry, async (c) => {
    const caller = allowed(c, 'retry')
    const { id } = await visibleJob(client, caller, c.req.valid('param').id)
    return send(c, { id, state: await client.retry(id, { actor: caller.name }) })
  })

  app.openapi(recover, async (c) => {
    const caller = allowed(c, 'recover')
    const { id } = await visibleJob(client, caller, c.req.valid('param').id)
    await client.recover(id, { actor: caller.name })
    return send(c, { id, state: 'running' })
  })

  return app
}
