// Schedules: read them, and create, change and delete them at run time.

import { createRoute, z } from '@hono/zod-openapi'
import type { ScheduleUpdate } from '../../client/schedules.js'
import type { ScheduleOptions } from '../../domain/schedule/define-schedule.js'
import { body, json, momentSchema } from '../contract/page.js'
import { refusals, refusalsOfBody } from '../contract/problem.js'
import { changedSchema } from '../contract/queue.js'
import {
  jobKeyParam,
  newScheduleSchema,
  nextTicksSchema,
  scheduleChangesSchema,
  scheduleSchema,
  schedulesQuery,
  tickSchema,
  ticksQuery,
} from '../contract/schedule.js'
import { checkVisibleQueue } from '../job-scope.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import { queueOf, scheduleView, visibleSchedule } from '../shown-schedules.js'

const tags = ['Schedules']
const found = refusals(404, 422)
const changed = refusalsOfBody(404, 409)

const list = createRoute({
  method: 'get',
  path: '/schedules',
  operationId: 'listSchedules',
  summary: 'Schedules by key',
  tags,
  request: { query: schedulesQuery },
  responses: { 200: json(z.object({ rows: z.array(scheduleSchema) }), 'Schedules.'), ...refusals(422) },
})

const show = createRoute({
  method: 'get',
  path: '/schedules/{jobKey}',
  operationId: 'showSchedule',
  summary: 'One schedule',
  tags,
  request: { params: jobKeyParam },
  responses: { 200: json(scheduleSchema, 'The schedule.'), ...found },
})

const ticks = createRoute({
  method: 'get',
  path: '/schedules/{jobKey}/ticks',
  operationId: 'listTicks',
  summary: 'Its ticks and their outcome, newest first',
  tags,
  request: { params: jobKeyParam, query: ticksQuery },
  responses: { 200: json(z.object({ rows: z.array(tickSchema) }), 'Ticks.'), ...found },
})

const preview = createRoute({
  method: 'get',
  path: '/schedules/{jobKey}/next-ticks',
  operationId: 'previewTicks',
  summary: 'Its next ticks',
  tags,
  request: {
    params: jobKeyParam,
    query: z.object({
      after: momentSchema.optional(),
      limit: z.coerce.number().int().min(1).max(100).optional(),
    }),
  },
  responses: { 200: json(nextTicksSchema, 'Moments.'), ...found },
})

const create = createRoute({
  method: 'post',
  path: '/schedules',
  operationId: 'createSchedule',
  summary: 'Create a schedule at run time',
  tags,
  request: body(newScheduleSchema),
  responses: { 201: json(scheduleSchema, 'The schedule.'), ...changed },
})

const update = createRoute({
  method: 'patch',
  path: '/schedules/{jobKey}',
  operationId: 'updateSchedule',
  summary: 'Change a schedule, or reset it to the settings of the code',
  tags,
  request: { params: jobKeyParam, ...body(scheduleChangesSchema) },
  responses: { 200: json(scheduleSchema, 'The changed schedule.'), ...changed },
})

const remove = createRoute({
  method: 'delete',
  path: '/schedules/{jobKey}',
  operationId: 'deleteSchedule',
  summary: 'Delete a schedule and keep its jobs',
  tags,
  request: { params: jobKeyParam },
  responses: { 200: json(changedSchema, 'The schedule is deleted.'), ...found },
})

export function scheduleRoutes(parts: Parts): App {
  const app = newRoutes()
  addReads(app, parts)
  addChanges(app, parts)
  return app
}

function addReads(app: App, { client, options: { redaction } }: Parts): void {
  app.openapi(list, async (c) => {
    const caller = allowed(c, 'view')
    const schedules = await client.schedules.list(given(c.req.valid('query')))
    const seen = schedules.filter((schedule) => caller.sees(queueOf(client, schedule)))
    return send(c, { rows: seen.map((schedule) => scheduleView(schedule, caller, redaction)) })
  })

  app.openapi(show, async (c) => {
    const caller = allowed(c, 'view')
    const schedule = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    return send(c, scheduleView(schedule, caller, redaction))
  })

  app.openapi(ticks, async (c) => {
    const caller = allowed(c, 'view')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    const { before, limit } = c.req.valid('query')
    const options = given({ limit, before: before === undefined ? undefined : new Date(before) })
    return send(c, { rows: await client.schedules.ticks(jobKey, options) })
  })

  app.openapi(preview, async (c) => {
    const caller = allowed(c, 'view')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    const { after, limit } = c.req.valid('query')
    const options = given({ limit, after: after === undefined ? undefined : new Date(after) })
    return send(c, { ticks: await client.schedules.preview(jobKey, options) })
  })
}

function addChanges(app: App, { client, options: { redaction } }: Parts): void {
  app.openapi(create, async (c) => {
    const caller = allowed(c, 'schedule')
    const { startsAt, endsAt, ...described } = c.req.valid('json')
    checkVisibleQueue(caller, described.queue ?? client.definitions.get(described.job)?.queue ?? 'default')
    const options = { ...given(described), ...moments({ startsAt, endsAt }), actor: caller.name } as ScheduleOptions
    return send(c, scheduleView(await client.schedules.create(options), caller, redaction), 201)
  })

  app.openapi(update, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    const wanted = c.req.valid('json')
    if (wanted?.queue !== undefined) checkVisibleQueue(caller, wanted.queue)
    const { startsAt, endsAt, ...rest } = wanted ?? {}
    const changes = wanted && ({ ...given(rest), ...moments({ startsAt, endsAt }) } as ScheduleUpdate)
    const after = await client.schedules.update(jobKey, changes, { actor: caller.name })
    return send(c, scheduleView(after, caller, redaction))
  })

  app.openapi(remove, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visibleSchedule(client, caller, c.req.valid('param').jobKey)
    await client.schedules.delete(jobKey, { actor: caller.name })
    return send(c, { isChanged: true })
  })
}

/** null resets the option; absent leaves it unchanged. */
function moments(given: { startsAt?: string | null | undefined; endsAt?: string | null | undefined }) {
  const entries = Object.entries(given)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => [name, text === null ? null : new Date(text as string)])
  return Object.fromEntries(entries) as { startsAt?: Date | null; endsAt?: Date | null }
}
