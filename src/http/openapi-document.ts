// The contract as an OpenAPI 3.1 document, from the same routes that answer.

import { createRequire } from 'node:module'
import type { App } from './parts.js'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

export function openApiDocument(app: App) {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'As the auth hook of the mount decides; the stand-alone server takes bearer tokens.',
  })
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version,
      description: 'Background jobs on PostgreSQL: read them, enqueue them, operate on them.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '.', description: 'Where this document lies.' }],
    security: [{ bearer: [] }],
    tags: TAGS,
  })
}

const TAGS = [
  { name: 'Jobs', description: 'What was asked, how it stands, and what an operator can do about it.' },
  { name: 'Queues', description: 'What waits and runs, and pausing it.' },
  { name: 'Schedules', description: 'Recurring jobs.' },
  { name: 'Pipelines', description: 'Jobs that belong together.' },
  { name: 'Keys', description: 'What must not run twice at once.' },
  { name: 'Workers', description: 'Who runs jobs.' },
  { name: 'Bulk operations', description: 'Operations on all jobs of a filter.' },
  { name: 'Statistics', description: 'Counts and times.' },
  { name: 'Audit', description: 'Who did what by hand.' },
  { name: 'Live', description: 'One stream per page.' },
  { name: 'Access', description: 'Who is asking.' },
]
