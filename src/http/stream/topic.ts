// What a live stream can be about.

import { HoldfastError } from '../../domain/error/errors.js'
import { checkQueueName, toJobId } from '../../domain/job/job.js'
import { checkPipelineId } from '../../domain/job/job-filter.js'

export type TopicKind = 'stats' | 'queue' | 'job' | 'pipeline'

export interface Topic {
  readonly kind: TopicKind
  /** The queue's name, the job's id, the pipeline's id; '' of stats. */
  readonly of: string
  /** As a reader writes it: `stats`, `queue:mail`, `job:12`, `pipeline:<uuid>`. */
  readonly name: string
}

// More than a page shows at once.
export const MOST_TOPICS = 50

export function parseTopics(names: readonly string[]): Topic[] {
  const topics = new Map(names.map(parseTopic).map((topic) => [topic.name, topic]))
  if (topics.size === 0 || topics.size > MOST_TOPICS) {
    const message = `a stream has 1 to ${MOST_TOPICS} topics: stats, queue:<name>, job:<id>, pipeline:<id>`
    throw new HoldfastError('INVALID_REQUEST', message, { details: { received: topics.size } })
  }
  return [...topics.values()]
}

function parseTopic(text: string): Topic {
  if (text === 'stats') return { kind: 'stats', of: '', name: 'stats' }
  const [, kind = '', given = ''] = /^(\w+):(.*)$/s.exec(text) ?? []
  const check = CHECKS.get(kind)
  if (!check) {
    const message = 'a topic is stats, queue:<name>, job:<id> or pipeline:<id>'
    throw new HoldfastError('INVALID_REQUEST', message, { details: { received: text.slice(0, 200) } })
  }
  const of = check(given)
  return { kind: kind as TopicKind, of, name: `${kind}:${of}` }
}

const CHECKS: ReadonlyMap<string, (given: string) => string> = new Map([
  ['queue', checkQueueName],
  ['job', toJobId],
  ['pipeline', checkPipelineId],
])
