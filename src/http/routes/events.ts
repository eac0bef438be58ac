// The live stream: one per page, about several topics, resumed by Last-Event-ID.

import { createRoute, z } from '@hono/zod-openapi'
import type { Client } from '../../client/client.js'
import { refusals } from '../contract/problem.js'
import { checkVisibleQueue, jobNotFound, visiblePipeline } from '../job-scope.js'
import { type App, allowed, newRoutes, type Parts } from '../parts.js'
import type { Caller } from '../principal.js'
import { parsePositions } from '../stream/position.js'
import { parseTopics, type Topic } from '../stream/topic.js'

const events = createRoute({
  method: 'get',
  path: '/events',
  operationId: 'streamEvents',
  summary: 'Live states and log lines, as server-sent events',
  description:
    'Each event is named after the kind of its topic; its data has `topic`, the state under the name of the kind when it changed (null when there is no such thing any more), and for jobs `logs` with new lines. The state of a job is its row with `steps`, what its handler remembers, without outputs; that of a pipeline has its `progress` and its first 200 `steps`. States are sent at most four times a second, and only the latest. The id of an event says how far the reader is in all topics: sent back as `Last-Event-ID`, the stream goes on without a gap and without a repetition.',
  tags: ['Live'],
  request: {
    query: z.object({
      topic: z
        .union([z.string(), z.array(z.string())])
        .openapi({ description: '`stats`, `queue:<name>`, `job:<id>` or `pipeline:<id>`; may be repeated.' }),
      lastEventId: z.string().optional().openapi({ description: 'For readers that cannot send the header.' }),
    }),
  },
  responses: {
    200: { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } },
    ...refusals(404, 422),
  },
})

// Compressing or buffering it would hold events back.
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

export function eventRoutes({ client, hub }: Parts): App {
  const app = newRoutes()
  app.openapi(events, async (c) => {
    const caller = allowed(c, 'view')
    const { topic, lastEventId } = c.req.valid('query')
    const topics = parseTopics([topic].flat())
    await checkVisible(client, caller, topics)
    const positions = parsePositions(c.req.header('last-event-id') ?? lastEventId ?? '')
    const body = hub.open({ caller, topics, positions, disconnect: c.env.disconnect })
    return new Response(body, { headers: STREAM_HEADERS })
  })
  return app
}

async function checkVisible(client: Client, caller: Caller, topics: readonly Topic[]): Promise<void> {
  const of = (kind: Topic['kind']) => topics.filter((topic) => topic.kind === kind).map((topic) => topic.of)
  for (const queue of of('queue')) checkVisibleQueue(caller, queue)
  for (const id of of('pipeline')) await visiblePipeline(client, caller, id)
  const ids = of('job')
  if (ids.length === 0) return
  const { rows } = await client.operator.jobs({ filter: { ids }, limit: ids.length })
  const visible = new Set(rows.filter(({ queue }) => caller.sees(queue)).map(({ id }) => id))
  const missing = ids.find((id) => !visible.has(id))
  if (missing !== undefined) throw jobNotFound(missing)
}
