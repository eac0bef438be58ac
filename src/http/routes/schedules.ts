// Schedules: look at them, change them at run time, fire beside their ticks.

import { createRoute, z } from '@hono/zod-openapi'
import type { Client } from '../../client/client.js'
import type { ScheduleUpdate } from '../../client/schedules.js'
import { HoldfastError } from '../../domain/error/errors.js'
import {
  checkJobKey,
  type Schedule,
  type ScheduleOptions,
  type StoredSettings,
} from '../../domain/schedule/schedule.js'
import { emptySchema, enqueuedSchema } from '../contract/job.js'
import { body, json, momentSchema } from '../contract/page.js'
import { refusals, refusalsOfBody } from '../contract/problem.js'
import { changedSchema } from '../contract/queue.js'
import {
  backfilledSchema,
  backfillSchema,
  jobKeyParam,
  newScheduleSchema,
  nextTicksSchema,
  scheduleChangesSchema,
  scheduleSchema,
  schedulesQuery,
  tickSchema,
  ticksQuery,
  triggerSchema,
} from '../contract/schedule.js'
import { checkVisibleQueue } from '../job-scope.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import type { Caller } from '../principal.js'
import type { Redaction } from '../redaction.js'

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
  summary: 'What its ticks have come to, newest first',
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
  summary: 'Make a schedule at run time',
  tags,
  request: body(newScheduleSchema),
  responses: { 201: json(scheduleSchema, 'It ticks from now on.'), ...changed },
})

const update = createRoute({
  method: 'patch',
  path: '/schedules/{jobKey}',
  operationId: 'updateSchedule',
  summary: 'Change a schedule, or give it back to code',
  tags,
  request: { params: jobKeyParam, ...body(scheduleChangesSchema) },
  responses: { 200: json(scheduleSchema, 'As it is now.'), ...changed },
})

const remove = createRoute({
  method: 'delete',
  path: '/schedules/{jobKey}',
  operationId: 'deleteSchedule',
  summary: 'Delete a schedule; its jobs live on',
  tags,
  request: { params: jobKeyParam },
  responses: { 200: json(changedSchema, 'It is gone.'), ...found },
})

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
    responses: { 200: json(changedSchema, 'It is done.'), ...changed },
  })

const trigger = createRoute({
  ...operation('trigger', 'triggerSchedule', 'A job now, beside the ticks'),
  request: { params: jobKeyParam, ...body(triggerSchema) },
  responses: { 201: json(enqueuedSchema, 'The job.'), ...changed },
})

const skip = createRoute({
  ...operation('skip', 'skipNextTick', 'The next tick makes no job'),
  request: { params: jobKeyParam, ...body(emptySchema) },
  responses: { 200: json(z.object({ tick: momentSchema }), 'Which tick that is.'), ...changed },
})

const backfill = createRoute({
  ...operation('backfill', 'backfillSchedule', 'Jobs for ticks of a span that have none yet; at most 1,000 ticks'),
  request: { params: jobKeyParam, ...body(backfillSchema) },
  responses: { 200: json(z.object({ rows: backfilledSchema }), 'The jobs.'), ...changed },
})

export function scheduleRoutes(parts: Parts): App {
  const app = newRoutes()
  addReads(app, parts)
  addChanges(app, parts)
  addOperations(app, parts)
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
    const schedule = await visible(client, caller, c.req.valid('param').jobKey)
    return send(c, scheduleView(schedule, caller, redaction))
  })

  app.openapi(ticks, async (c) => {
    const caller = allowed(c, 'view')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    const { before, limit } = c.req.valid('query')
    const options = given({ limit, before: before === undefined ? undefined : new Date(before) })
    return send(c, { rows: await client.schedules.ticks(jobKey, options) })
  })

  app.openapi(preview, async (c) => {
    const caller = allowed(c, 'view')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
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
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    const wish = c.req.valid('json')
    if (wish?.queue !== undefined) checkVisibleQueue(caller, wish.queue)
    const { startsAt, endsAt, ...rest } = wish ?? {}
    const changes = wish && ({ ...given(rest), ...moments({ startsAt, endsAt }) } as ScheduleUpdate)
    const after = await client.schedules.update(jobKey, changes, { actor: caller.name })
    return send(c, scheduleView(after, caller, redaction))
  })

  app.openapi(remove, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    await client.schedules.delete(jobKey, { actor: caller.name })
    return send(c, { isChanged: true })
  })
}

function addOperations(app: App, { client }: Parts): void {
  app.openapi(switching('enable', 'Let it tick again'), async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    return send(c, { isChanged: await client.schedules.enable(jobKey, { actor: caller.name }) })
  })

  app.openapi(switching('disable', 'Let it tick no more'), async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    return send(c, { isChanged: await client.schedules.disable(jobKey, { actor: caller.name }) })
  })

  app.openapi(trigger, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    const id = await client.schedules.trigger(jobKey, { ...given(c.req.valid('json')), actor: caller.name })
    return send(c, { id }, 201)
  })

  app.openapi(skip, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    return send(c, { tick: await client.schedules.skipNext(jobKey, { actor: caller.name }) })
  })

  app.openapi(backfill, async (c) => {
    const caller = allowed(c, 'schedule')
    const { jobKey } = await visible(client, caller, c.req.valid('param').jobKey)
    const { from, to } = c.req.valid('json')
    const span = { from: new Date(from), to: new Date(to), actor: caller.name }
    return send(c, { rows: await client.schedules.backfill(jobKey, span) })
  })
}

async function visible(client: Client, caller: Caller, given: string): Promise<Schedule> {
  const jobKey = checkJobKey(given)
  const schedule = await client.schedules.find(jobKey)
  if (schedule && caller.sees(queueOf(client, schedule))) return schedule
  throw new HoldfastError('JOB_UNKNOWN', `there is no schedule ${JSON.stringify(jobKey)}`, { details: { jobKey } })
}

/** Of the jobs that its ticks make. */
function queueOf(client: Client, { options, type }: Schedule): string {
  return options.queue ?? client.definitions.get(type)?.queue ?? 'default'
}

function scheduleView({ input, code, ...shown }: Schedule, caller: Caller, redaction: Redaction) {
  const isShown = caller.may('view_input')
  const settings = (one: StoredSettings) => {
    const { input, ...rest } = one
    return isShown ? { ...rest, input: redaction.apply(one.type, input) } : rest
  }
  return {
    ...shown,
    code: code && settings(code),
    ...(isShown && { input: redaction.apply(shown.type, input) }),
    hidden: isShown ? [] : ['input'],
  }
}

/** null takes the option back; absent leaves it. */
function moments(given: { startsAt?: string | null | undefined; endsAt?: string | null | undefined }) {
  const entries = Object.entries(given)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => [name, text === null ? null : new Date(text as string)])
  return Object.fromEntries(entries) as { startsAt?: Date | null; endsAt?: Date | null }
}
