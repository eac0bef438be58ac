// Operations on the ticks of a schedule: enable and disable, trigger, skip, backfill.

import { createRoute, z } from '@hono/zod-openapi'
import { emptySchema, enqueuedSchema } from '../contract/job.js'
import { body, json, momentSchema } from '../contract/page.js'
import { refusalsOfBody } from '../contract/problem.js'
import { changedSchema } from '../contract/queue.js'
import { backfilledSchema, backfillSchema, jobKeyParam, triggerSchema } from '../contract/schedule.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import { visibleSchedule } from '../shown-schedules.js'

const tags = ['Schedules']
const changed = refusalsOfBody(404, 409)

const operation = <const Name extends string>(name: Name, operationId: string, summary: string) =>
  ({
    method: 'post',
    path: `/schedules/{jobKey}/${name}`,
    operationId,
    summary,
    tags,
  }) as const

const switching = (name: 'enable' | 'disable', summary: string) =>
  createRoute({
    ...operation(name, `${name}Schedule`, summary),
    request: { params: jobKeyParam, ...body(emptySchema) },
    responses: { 200: json(changedSchema, 'Whether it changed.'), ...changed },
  })

const trigger = createRoute({
  ...operation('trigger', 'triggerSchedule', 'Enqueue a job now, independent of the ticks'),
  request: { params: jobKeyParam, ...body(triggerSchema) },
  responses: { 201: json(enqueuedSchema, 'The job.'), ...changed },
})

const skip = createRoute({
  ...operation('skip', 'skipNextTick', 'Skip the next tick'),
  request: { params: jobKeyParam, ...body(emptySchema) },
  responses: { 200: json(z.object({ tick: momentSchema }), 'The skipped tick.'), ...changed },
})

const backfill = createRoute({
  ...operation(
    'backfill',
    'backfillSchedule',
    'Enqueue jobs for the past ticks of a span that have none; at most 1,000 ticks',
  ),
  request: { params: jobKeyParam, ...body(backfillSchema) },
  responses: { 200: json(z.object({ rows: backfilledSchema }), 'The jobs.'), ...changed },
})

export function scheduleTickRoutes({ client }: Parts): App {
  const app = newRoutes()
  app.openapi(switching('enable', 'Let its ticks make jobs again'), async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    return send(c, { isChanged: await client.schedules.enable(jobKey, { actor: caller.name }) })
  })

  app.openapi(switching('disable', 'Let its ticks make no jobs'), async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    return send(c, { isChanged: await client.schedules.disable(jobKey, { actor: caller.name }) })
  })

  app.openapi(trigger, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    const id = await client.schedules.trigger(jobKey, { ...given(c.req.valid('json')), actor: caller.name })
    return send(c, { id }, 201)
  })

  app.openapi(skip, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    return send(c, { tick: await client.schedules.skipNext(jobKey, { actor: caller.name }) })
  })

  app.openapi(backfill, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    const { from, to } = c.req.valid('json')
    const span = { from: new Date(from), to: new Date(to), actor: caller.name }
    return send(c, { rows: await client.schedules.backfill(jobKey, span) })
  })

  return app
}
