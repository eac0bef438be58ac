// The whole contract: every route below `/api`.

import type { App, Parts } from '../parts.js'
import { bulkOperationRoutes } from './bulk-operations.js'
import { eventRoutes } from './events.js'
import { jobRoutes } from './jobs.js'
import { pipelineRoutes } from './pipelines.js'
import { queueRoutes } from './queues.js'
import { scheduleTickRoutes } from './schedule-ticks.js'
import { scheduleRoutes } from './schedules.js'
import { statisticsRoutes } from './statistics.js'

export function allRoutes(parts: Parts): App[] {
  return [
    jobRoutes(parts),
    pipelineRoutes(parts),
    queueRoutes(parts),
    scheduleRoutes(parts),
    scheduleTickRoutes(parts),
    bulkOperationRoutes(parts),
    statisticsRoutes(parts),
    eventRoutes(parts),
  ]
}
