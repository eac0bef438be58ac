// Polls what is watched, with one call for many watches where possible.

import { createHash } from 'node:crypto'
import type { Client } from '../../client/client.js'
import { FINAL_STATES, type JobState } from '../../domain/job/job.js'
import { FILTER_LIMITS } from '../../domain/job/job-filter.js'
import type { JobRow, JobVersion } from '../../domain/operate/job-views.js'
import type { PipelineStep } from '../../domain/operate/pipeline-views.js'
import { progressOf } from '../../domain/pipeline/pipeline.js'
import { findPipeline, isVisiblePipeline } from '../job-scope.js'
import { allQueues, liveCounts } from '../live-counts.js'
import { LogWindow, type SentLine } from './log-window.js'
import type { Sighting, Watch } from './watch.js'

// A reader sees a job's progress within a second; what adds up over many jobs is dearer to ask for.
const JOB_MS = 250
const SETTLED_JOB_MS = 1000
const PIPELINE_MS = 500
// A pipeline of thousands of jobs takes a while to count; polling it takes at most a tenth of the time.
const PIPELINE_REST = 10
const SUM_MS = 1000

const IDS_AT_ONCE = 1000
const LINES_AT_ONCE = 200
const PIPELINE_JOBS = 200
const LATEST_STEPS = 100
// What a line may add to an event; the whole of it is in the job's logs.
const FIELD_CHARACTERS = 8192

type LogLine = Awaited<ReturnType<Client['logs']>>[number]

export class Polls {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /** Polls all of them; returns those that changed. */
  async poll(watches: readonly Watch[], now: number): Promise<Watch[]> {
    const of = (kind: string) => watches.filter(({ topic }) => topic.kind === kind)
    const changed = [
      ...(await this.#pollJobs(of('job'), now)),
      ...(await this.#pollQueues(of('queue'), now)),
      ...(await this.#pollStats(of('stats'), now)),
    ]
    for (const watch of of('pipeline')) {
      if (await this.#pollPipeline(watch, now)) changed.push(watch)
    }
    return changed
  }

  /** Of one job after a line, oldest first. */
  async lines(id: string, after: string): Promise<SentLine[]> {
    return (await this.#client.logs(id, { after, limit: LINES_AT_ONCE })).map(sentLine)
  }

  async #pollJobs(watches: readonly Watch[], now: number): Promise<Watch[]> {
    const changed = new Set<Watch>()
    for (const some of inChunks(watches, IDS_AT_ONCE)) {
      const versions = await this.#client.operator.versions(some.map(({ topic }) => topic.of))
      const byId = new Map(versions.map((version) => [version.id, version]))
      const moved = some.filter((watch) => !watch.latest || wholeVersion(byId, watch) !== watch.storedVersion)
      const rows = await this.#rows(moved)
      for (const watch of moved) {
        const row = rows.get(watch.topic.of)
        const steps = await this.#stepsOf(watch, byId.get(watch.topic.of)?.steps ?? NO_STEPS)
        watch.storedVersion = wholeVersion(byId, watch)
        watch.isSettled = row === undefined || isFinal(row.state)
        if (see(watch, row ? { ...row, steps } : null)) changed.add(watch)
      }
      for (const watch of some) {
        watch.dueAt = now + (watch.isSettled ? SETTLED_JOB_MS : JOB_MS)
        if (await this.#readOn(watch, byId.get(watch.topic.of)?.lastLog ?? '0')) changed.add(watch)
      }
    }
    return [...changed]
  }

  async #rows(watches: readonly Watch[]): Promise<Map<string, JobRow>> {
    const rows = new Map<string, JobRow>()
    for (const some of inChunks(watches, FILTER_LIMITS.values)) {
      const ids = some.map(({ topic }) => topic.of)
      const page = await this.#client.operator.jobs({ filter: { ids }, limit: ids.length })
      for (const row of page.rows) rows.set(row.id, row)
    }
    return rows
  }

  /** The latest durable steps, without outputs, which not every reader may see. */
  async #stepsOf(watch: Watch, version: string): Promise<readonly object[]> {
    if (version === NO_STEPS) return []
    if (watch.steps?.version !== version) {
      const list = (await this.#client.steps(watch.topic.of)).slice(-LATEST_STEPS)
      watch.steps = { version, list: list.map(({ output: _, ...step }) => step) }
    }
    return watch.steps.list
  }

  /** Adds the lines since the last poll to the window; true when there were any. */
  async #readOn(watch: Watch, last: string): Promise<boolean> {
    watch.lines ??= new LogWindow(last)
    if (BigInt(last) <= BigInt(watch.lines.to)) return false
    const read = await this.lines(watch.topic.of, watch.lines.to)
    watch.lines.add(read)
    // There are more lines: poll again at once.
    if (read.length === LINES_AT_ONCE) watch.dueAt = 0
    return read.length > 0
  }

  async #pollQueues(watches: readonly Watch[], now: number): Promise<Watch[]> {
    if (watches.length === 0) return []
    const queues = await allQueues(this.#client)
    for (const watch of watches) watch.dueAt = now + SUM_MS
    return watches.filter((watch) => see(watch, queues.find(({ name }) => name === watch.topic.of) ?? null))
  }

  async #pollStats(watches: readonly Watch[], now: number): Promise<Watch[]> {
    const changed: Watch[] = []
    for (const watch of watches) {
      watch.dueAt = now + SUM_MS
      if (see(watch, await liveCounts(this.#client, watch.queues))) changed.push(watch)
    }
    return changed
  }

  async #pollPipeline(watch: Watch, now: number): Promise<boolean> {
    const begun = performance.now()
    const found = await findPipeline(this.#client, watch.topic.of)
    const pipeline = found && isVisiblePipeline(found, watch.queues) ? found : undefined
    const page = pipeline && (await this.#client.operator.pipelineSteps(pipeline.id, { limit: PIPELINE_JOBS }))
    watch.dueAt = now + Math.max(PIPELINE_MS, PIPELINE_REST * (performance.now() - begun))
    if (!pipeline || !page) return see(watch, null)
    const { input: _, jobs: __, ...standing } = pipeline
    const steps = { rows: page.rows.map(shortStep), isMore: page.next !== null }
    return see(watch, { ...standing, progress: progressOf(pipeline), steps })
  }
}

const NO_STEPS = '0.0'

function wholeVersion(versions: ReadonlyMap<string, JobVersion>, { topic }: Watch): string | undefined {
  const found = versions.get(topic.of)
  return found && `${found.version} ${found.steps}`
}

/** What changes of a step. */
function shortStep({ id, step, type, state, attempts, progress, statusMessage, error, finishedAt }: PipelineStep) {
  return { id, step, type, state, attempts, progress, statusMessage, error, finishedAt }
}

/** Stores the state; true when it changed. */
function see(watch: Watch, state: object | null): boolean {
  const text = JSON.stringify(state)
  const version = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  const isNews = watch.latest?.version !== version
  if (isNews) watch.latest = { version, text } satisfies Sighting
  return isNews
}

function isFinal(state: JobState): boolean {
  return (FINAL_STATES as readonly JobState[]).includes(state)
}

function sentLine({ fields, ...line }: LogLine): SentLine {
  const text = JSON.stringify(fields)
  const shown = text.length <= FIELD_CHARACTERS ? fields : { truncated: true }
  return { id: line.id, text: JSON.stringify({ ...line, fields: shown }) }
}

function inChunks<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size))
  return chunks
}
