// All live streams of a mount. They share one watch per topic, one poll, and one connection that listens.

import type { Client } from '../../client/client.js'
import type { Logger } from '../../domain/run/context.js'
import type { Limits } from '../options.js'
import type { Caller } from '../principal.js'
import { rateLimited } from '../problem.js'
import { EventStream } from './event-stream.js'
import { Polls } from './polls.js'
import type { Position } from './position.js'
import type { Topic } from './topic.js'
import type { Watch } from './watch.js'

// At most four events of a topic a second.
const POLL_MS = 250
const HEARTBEAT_MS = 1000
// Until a failed poll or a failed listener is repeated.
const POLL_AGAIN_MS = 1000
const LISTEN_AGAIN_MS = 5000

export interface StreamRequest {
  readonly caller: Caller
  readonly topics: readonly Topic[]
  readonly positions: ReadonlyMap<string, Position>
  readonly disconnect: (() => void) | undefined
}

export class Hub {
  readonly #polls: Polls
  readonly #client: Client
  readonly #limits: Limits
  readonly #log: Logger
  readonly #watches = new Map<string, Watch>()
  readonly #streams = new Map<EventStream, string>()
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined
  #hurry = () => {}
  #heartbeatAt = 0
  #listening: Promise<{ close(): Promise<void> } | undefined> | undefined
  #listenAt = 0

  constructor(client: Client, limits: Limits, log: Logger) {
    this.#client = client
    this.#limits = limits
    this.#log = log
    this.#polls = new Polls(client)
  }

  /** Throws RATE_LIMITED when there are too many already. */
  open({ caller, topics, positions, disconnect }: StreamRequest): ReadableStream<Uint8Array> {
    const { streams, streamsOfOne, slowReaderMs, streamMs } = this.#limits
    const ofCaller = [...this.#streams.values()].filter((name) => name === caller.name).length
    if (this.#closing.signal.aborted || this.#streams.size >= streams || ofCaller >= streamsOfOne) {
      throw rateLimited('there are too many live streams already', POLL_AGAIN_MS / 1000)
    }
    const watches = topics.map((topic) => this.#watch(topic, caller.queues))
    const stream: EventStream = new EventStream({
      watches,
      positions,
      slowReaderMs,
      streamMs,
      now: performance.now(),
      lines: (id, after) => this.#polls.lines(id, after),
      disconnect,
      onEnd: () => this.#leave(stream, watches),
      onFault: (error) => this.#log.warn({ err: error }, 'a live stream was ended; its reader comes back'),
    })
    this.#streams.set(stream, caller.name)
    for (const { readers } of watches) readers.add(stream)
    this.#running ??= this.#run()
    return stream.body
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#hurry()
    for (const stream of [...this.#streams.keys()]) stream.close()
    await this.#running
  }

  #watch(topic: Topic, queues: readonly string[] | undefined): Watch {
    // Of a job or a queue there is one state for all who may see it; sums differ by what is summed.
    const scope = topic.kind === 'stats' || topic.kind === 'pipeline' ? queues : undefined
    const key = JSON.stringify([topic.name, scope])
    const found = this.#watches.get(key)
    if (found) return found
    const watch: Watch = {
      key,
      topic,
      queues: scope,
      readers: new Set(),
      latest: undefined,
      storedVersion: undefined,
      lines: undefined,
      steps: undefined,
      isSettled: false,
      dueAt: 0,
    }
    this.#watches.set(key, watch)
    this.#hurry()
    return watch
  }

  #leave(stream: EventStream, watches: readonly Watch[]): void {
    this.#streams.delete(stream)
    for (const watch of watches) {
      watch.readers.delete(stream)
      if (watch.readers.size === 0) this.#watches.delete(watch.key)
    }
  }

  /** Runs while anything is watched. */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (this.#watches.size > 0 && !signal.aborted) {
      const now = performance.now()
      this.#listen(now)
      await this.#poll(now)
      this.#heartbeat(now)
      await this.#pause()
    }
    this.#running = undefined
    await this.#stopListening()
  }

  /** Until the next poll, or until a new watch needs one. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS).unref()
      this.#hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #heartbeat(now: number): void {
    if (now - this.#heartbeatAt < HEARTBEAT_MS) return
    this.#heartbeatAt = now
    for (const stream of [...this.#streams.keys()]) stream.heartbeat(now)
  }

  async #poll(now: number): Promise<void> {
    const due = [...this.#watches.values()].filter(({ dueAt }) => dueAt <= now)
    if (due.length === 0) return
    let changed: readonly Watch[] = due
    try {
      changed = await this.#polls.poll(due, now)
    } catch (error) {
      // The poll may have stored some states before the fault, so every reader is marked; it sends only what is new to it.
      for (const watch of due) watch.dueAt = now + POLL_AGAIN_MS
      this.#log.warn({ err: error }, 'polling for live streams failed and is tried again')
    }
    for (const watch of changed) for (const reader of watch.readers) reader.mark(watch)
  }

  /** Only a hint to poll sums sooner. Without notifications the regular poll is enough. */
  #listen(now: number): void {
    if (this.#listening || now < this.#listenAt) return
    this.#listenAt = now + LISTEN_AGAIN_MS
    const heard = () => {
      for (const watch of this.#watches.values()) if (isSum(watch.topic)) watch.dueAt = 0
    }
    const lost = () => {
      this.#listening = undefined
    }
    this.#listening = this.#client.listen(heard, lost).catch(() => {
      this.#listening = undefined
      return undefined
    })
  }

  async #stopListening(): Promise<void> {
    const listening = this.#listening
    this.#listening = undefined
    this.#listenAt = 0
    await (await listening)?.close()
  }
}

function isSum({ kind }: Topic): boolean {
  return kind === 'stats' || kind === 'queue'
}
