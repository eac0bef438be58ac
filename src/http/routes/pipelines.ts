// Pipelines: lists, one with its progress, its result and its steps, and what an operator does to it as a whole.

import { createRoute, z } from '@hono/zod-openapi'
import { progressOf } from '../../domain/pipeline/pipeline.js'
import { cancelSchema, emptySchema } from '../contract/job.js'
import { body, json, pageOf, pageQuery } from '../contract/page.js'
import {
  cancelledPipelineSchema,
  definedPipelineSchema,
  enqueuedPipelineSchema,
  newPipelineSchema,
  pipelineParam,
  pipelineRowSchema,
  pipelineStepPageSchema,
  pipelineStorySchema,
  retriedPipelineSchema,
} from '../contract/pipeline.js'
import { refusals, refusalsOfBody } from '../contract/problem.js'
import { visiblePipeline } from '../job-scope.js'
import { inputSchemaOf } from '../json-schema.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import { shownPipeline, shownResult } from '../shown-jobs.js'

const tags = ['Pipelines']

const list = createRoute({
  method: 'get',
  path: '/pipelines',
  operationId: 'listPipelines',
  summary: 'Pipelines that were enqueued as such, newest first',
  description: 'Jobs that were chained one by one are found by the filter `pipeline:<id>` of `/jobs`.',
  tags,
  request: { query: pageQuery },
  responses: { 200: json(pageOf(pipelineRowSchema), 'A page of pipelines.'), ...refusals(422) },
})

const enqueue = createRoute({
  method: 'post',
  path: '/pipelines',
  operationId: 'enqueuePipeline',
  summary: 'Enqueue a pipeline that this program defines, by its name',
  tags,
  request: body(newPipelineSchema),
  responses: { 201: json(enqueuedPipelineSchema, 'All its steps are stored.'), ...refusalsOfBody() },
})

const show = createRoute({
  method: 'get',
  path: '/pipelines/{pipelineId}',
  operationId: 'showPipeline',
  summary: 'One pipeline: its progress, its result, and its steps as a graph',
  tags,
  request: { params: pipelineParam },
  responses: { 200: json(pipelineStorySchema, 'The pipeline.'), ...refusals(404, 422) },
})

const steps = createRoute({
  method: 'get',
  path: '/pipelines/{pipelineId}/steps',
  operationId: 'listPipelineSteps',
  summary: 'The jobs of a pipeline in the order of its graph, each with those it comes after',
  tags,
  request: { params: pipelineParam, query: pageQuery },
  responses: { 200: json(pipelineStepPageSchema, 'A page of its jobs.'), ...refusals(404, 422) },
})

const cancel = createRoute({
  method: 'post',
  path: '/pipelines/{pipelineId}/cancel',
  operationId: 'cancelPipeline',
  summary: 'Cancel all jobs of a pipeline that have not ended; one that compensates begins to',
  tags,
  request: { params: pipelineParam, ...body(cancelSchema) },
  responses: { 200: json(cancelledPipelineSchema, 'Nothing of it goes on.'), ...refusalsOfBody(404, 409) },
})

const retry = createRoute({
  method: 'post',
  path: '/pipelines/{pipelineId}/retry',
  operationId: 'retryPipeline',
  summary: 'Run the steps that did not complete, and all after them, again',
  description:
    'Refused with 409 WRONG_STATE while jobs of it live, when all have completed, and after it was compensated.',
  tags,
  request: { params: pipelineParam, ...body(emptySchema) },
  responses: { 200: json(retriedPipelineSchema, 'They are open again.'), ...refusalsOfBody(404, 409) },
})

const defined = createRoute({
  method: 'get',
  path: '/pipeline-definitions',
  operationId: 'listPipelineDefinitions',
  summary: 'The pipelines that this program defines',
  tags,
  responses: { 200: json(z.object({ rows: z.array(definedPipelineSchema) }), 'Pipelines, by name.'), ...refusals() },
})

export function pipelineRoutes({ client, options: { redaction } }: Parts): App {
  const app = newRoutes()

  app.openapi(list, async (c) => {
    const caller = allowed(c, 'view')
    return send(c, await client.operator.pipelines({ ...given(c.req.valid('query')), queues: caller.queues }))
  })

  app.openapi(enqueue, async (c) => {
    const caller = allowed(c, 'enqueue')
    const { name, input } = c.req.valid('json')
    const { id } = await client.enqueuePipeline(name, input, given({ actor: caller.name, queues: caller.queues }))
    c.header('location', `pipelines/${id}`)
    return send(c, { id }, 201)
  })

  app.openapi(show, async (c) => {
    const caller = allowed(c, 'view')
    const pipeline = await visiblePipeline(client, caller, c.req.valid('param').pipelineId)
    const { id, resultJob } = pipeline
    const [result, page] = await Promise.all([
      resultJob === null ? undefined : client.find(resultJob),
      client.operator.pipelineSteps(id),
    ])
    return send(c, {
      pipeline: shownPipeline(pipeline, caller, redaction),
      progress: progressOf(pipeline),
      result: result ? shownResult(result, caller, redaction) : null,
      steps: page,
    })
  })

  app.openapi(steps, async (c) => {
    const caller = allowed(c, 'view')
    const { id } = await visiblePipeline(client, caller, c.req.valid('param').pipelineId)
    return send(c, await client.operator.pipelineSteps(id, given(c.req.valid('query'))))
  })

  app.openapi(cancel, async (c) => {
    const caller = allowed(c, 'cancel')
    const { id } = await visiblePipeline(client, caller, c.req.valid('param').pipelineId)
    const cancelled = await client.pipeline(id).cancel({ ...given(c.req.valid('json')), actor: caller.name })
    return send(c, { id, cancelled })
  })

  app.openapi(retry, async (c) => {
    const caller = allowed(c, 'retry')
    const { id } = await visiblePipeline(client, caller, c.req.valid('param').pipelineId)
    return send(c, { id, steps: await client.pipeline(id).retry({ actor: caller.name }) })
  })

  app.openapi(defined, (c) => {
    allowed(c, 'view')
    const rows = [...client.pipelineDefinitions.values()]
      .map(({ name, onFailure, schema }) => ({ name, onFailure, inputSchema: inputSchemaOf({ schema }) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    return send(c, { rows })
  })

  return app
}
