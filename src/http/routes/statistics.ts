// Statistics, the audit, and what the program knows of itself: its types of jobs and who is asking.

import { createRoute, z } from '@hono/zod-openapi'
import type { Duration } from '../../domain/value/duration.js'
import { auditEntrySchema, auditQuery } from '../contract/audit.js'
import { jobTypeSchema } from '../contract/job.js'
import { json, pageOf } from '../contract/page.js'
import { principalSchema } from '../contract/principal.js'
import { refusals } from '../contract/problem.js'
import { liveSchema, statsQuery, statsSchema } from '../contract/statistics.js'
import { checkVisibleQueue } from '../job-scope.js'
import { inputSchemaOf } from '../json-schema.js'
import { liveCounts } from '../live-counts.js'
import { type App, allowed, given, newRoutes, type Parts, send } from '../parts.js'
import { PERMISSIONS } from '../principal.js'
import { shownEntry } from '../shown-details.js'

const live = createRoute({
  method: 'get',
  path: '/live',
  operationId: 'showLive',
  summary: 'What waits and runs now',
  tags: ['Statistics'],
  responses: { 200: json(liveSchema, 'Counts, capped at 10,000.'), ...refusals() },
})

const stats = createRoute({
  method: 'get',
  path: '/stats',
  operationId: 'showStats',
  summary: 'What ended when, and how long it waited and ran',
  tags: ['Statistics'],
  request: { query: statsQuery },
  responses: { 200: json(statsSchema, 'Statistics by span of time.'), ...refusals(404, 422) },
})

const audit = createRoute({
  method: 'get',
  path: '/audit',
  operationId: 'listAudit',
  summary: 'Who did what by hand, newest first',
  tags: ['Audit'],
  request: { query: auditQuery },
  responses: { 200: json(pageOf(auditEntrySchema), 'A page of entries.'), ...refusals(422) },
})

const me = createRoute({
  method: 'get',
  path: '/me',
  operationId: 'showMe',
  summary: 'Who is asking, and what they may do',
  tags: ['Access'],
  responses: {
    200: json(principalSchema, 'The principal.'),
    ...refusals(),
  },
})

const types = createRoute({
  method: 'get',
  path: '/types',
  operationId: 'listTypes',
  summary: 'The types of jobs that this program defines',
  tags: ['Jobs'],
  responses: {
    200: json(z.object({ rows: z.array(jobTypeSchema) }), 'Types, by name.'),
    ...refusals(),
  },
})

export function statisticsRoutes({ client, options: { redaction } }: Parts): App {
  const app = newRoutes()

  app.openapi(live, async (c) => {
    const caller = allowed(c, 'view')
    return send(c, await liveCounts(client, caller.queues))
  })

  app.openapi(stats, async (c) => {
    const caller = allowed(c, 'view')
    const { since, until, step, queue, type } = c.req.valid('query')
    const queues = queue === undefined ? caller.queues : [queue].flat().map((name) => checkVisibleQueue(caller, name))
    const query = given({
      since: since === undefined ? undefined : momentOrSpan(since),
      until: until === undefined ? undefined : momentOrSpan(until),
      step: step as Duration | undefined,
      types: type === undefined ? undefined : [type].flat(),
      queues,
    })
    return send(c, await client.operator.stats(query))
  })

  app.openapi(audit, async (c) => {
    const caller = allowed(c, 'view')
    caller.requireAllQueues('the audit')
    const page = await client.operator.audit(given(c.req.valid('query')))
    return send(c, { ...page, rows: page.rows.map((entry) => shownEntry(entry, caller, redaction)) })
  })

  app.openapi(me, (c) => {
    const caller = c.get('caller')
    const permissions = PERMISSIONS.filter((permission) => caller.may(permission))
    return send(c, { name: caller.name, permissions, queues: caller.queues ?? null })
  })

  app.openapi(types, (c) => {
    const caller = allowed(c, 'view')
    const rows = [...client.definitions.values()]
      .filter(({ queue }) => caller.sees(queue))
      .map((definition) => {
        const { type, queue, priority, maxAttempts } = definition
        return { type, queue, priority, maxAttempts, inputSchema: inputSchemaOf(definition) }
      })
      .sort((a, b) => (a.type < b.type ? -1 : 1))
    return send(c, { rows })
  })

  return app
}

function momentOrSpan(text: string): Date | Duration {
  return /^\d{4}-/.test(text) ? new Date(text) : (text as Duration)
}
