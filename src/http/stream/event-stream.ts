// One reader's stream. It keeps no queue of events: it remembers which topics changed and, when the reader can take more, sends
// their state at that moment. So a slow reader skips states and costs no memory; one that takes nothing at all is dropped.

import type { SentLine } from './log-window.js'
import { AT_THE_BEGINNING, type Position, printPositions } from './position.js'
import type { Reader, Watch } from './watch.js'

export interface StreamOptions {
  readonly watches: readonly Watch[]
  readonly positions: ReadonlyMap<string, Position>
  readonly slowReaderMs: number
  readonly streamMs: number
  readonly now: number
  /** Older lines than the watch remembers. */
  lines(id: string, after: string): Promise<readonly SentLine[]>
  /** Ends the connection below, where the host lets us. */
  disconnect: (() => void) | undefined
  onEnd(): void
  onFault(error: unknown): void
}

const BUFFER_BYTES = 65_536
// Keeps one event, with its lines, near the size of the buffer.
const EVENT_CHARACTERS = 65_536
const HEARTBEAT_MS = 15_000
// A browser that lost the stream asks again after this.
const RETRY_MS = 1000

export class EventStream implements Reader {
  readonly body: ReadableStream<Uint8Array>
  readonly #options: StreamOptions
  readonly #positions: Map<string, Position>
  readonly #changed: Set<Watch>
  readonly #encoder = new TextEncoder()
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #pumping = false
  #hasEnded = false
  #waitsSince: number | undefined
  #sentAt: number

  constructor(options: StreamOptions) {
    this.#options = options
    this.#positions = new Map(
      options.watches.map(({ topic }) => [topic.name, options.positions.get(topic.name) ?? AT_THE_BEGINNING]),
    )
    this.#changed = new Set(options.watches.filter(({ latest }) => latest !== undefined))
    this.#sentAt = options.now
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          this.#send(`retry: ${RETRY_MS}\n\n`)
        },
        pull: () => this.#pump(),
        cancel: () => this.#end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
    )
  }

  /** The state of a watch changed; it is read when it is sent. */
  mark(watch: Watch): void {
    this.#changed.add(watch)
    void this.#pump()
  }

  /** Called about once a second. */
  heartbeat(now: number): void {
    if (this.#hasEnded) return
    const { slowReaderMs, streamMs } = this.#options
    this.#waitsSince = this.#hasRoom() ? undefined : (this.#waitsSince ?? now)
    if (this.#waitsSince !== undefined && now - this.#waitsSince >= slowReaderMs) this.#drop()
    else if (now - this.#options.now >= streamMs) this.close()
    else if (this.#waitsSince === undefined && now - this.#sentAt >= HEARTBEAT_MS) {
      this.#sentAt = now
      this.#send(': still here\n\n')
    }
  }

  /** Ends it in good order; the reader comes back with its Last-Event-ID. */
  close(): void {
    if (this.#hasEnded) return
    this.#end()
    this.#controller.close()
  }

  #drop(): void {
    this.#end()
    // What waits in the buffers of the host goes with the connection; without it only our own buffer can be given up.
    if (this.#options.disconnect) this.#options.disconnect()
    else this.#controller.error(new Error('the reader of a live stream does not read'))
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#changed.clear()
    this.#options.onEnd()
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return
    this.#pumping = true
    try {
      while (!this.#hasEnded && this.#hasRoom()) {
        const [watch] = this.#changed
        if (!watch) return
        this.#changed.delete(watch)
        await this.#sendState(watch)
      }
    } catch (error) {
      // The database may be away for a moment. The reader comes back with its position and misses nothing.
      this.#options.onFault(error)
      this.close()
    } finally {
      this.#pumping = false
    }
  }

  /** Sends what of a topic the reader has not seen: its state if that differs, and the log lines after its last. */
  async #sendState(watch: Watch): Promise<void> {
    const { topic, latest } = watch
    const before = this.#positions.get(topic.name) ?? AT_THE_BEGINNING
    const lines = watch.lines ? await this.#linesOf(watch, before.log) : []
    if (!latest || this.#hasEnded) return
    const isNews = latest.version !== before.version
    if (!isNews && lines.length === 0) return
    const taken = fitting(lines)
    const log = taken.at(-1)?.id ?? before.log
    this.#positions.set(topic.name, { version: latest.version, log })
    const parts = [
      `"topic":${JSON.stringify(topic.name)}`,
      ...(isNews ? [`"${topic.kind}":${latest.text}`] : []),
      ...(taken.length > 0 ? [`"logs":[${taken.map(({ text }) => text).join(',')}]`] : []),
    ]
    this.#send(`id: ${printPositions(this.#positions)}\nevent: ${topic.kind}\ndata: {${parts.join(',')}}\n\n`)
    const isBehind = watch.lines !== undefined && BigInt(log) < BigInt(watch.lines.to)
    if (isBehind) this.#changed.add(watch)
  }

  async #linesOf({ lines, topic }: Watch, after: string): Promise<readonly SentLine[]> {
    return lines?.after(after) ?? this.#options.lines(topic.of, after)
  }

  #hasRoom(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0
  }

  #send(text: string): void {
    this.#controller.enqueue(this.#encoder.encode(text))
  }
}

/** At least one line, and no more than one event is to hold. */
function fitting(lines: readonly SentLine[]): readonly SentLine[] {
  let characters = 0
  const end = lines.findIndex(({ text }) => {
    characters += text.length
    return characters > EVENT_CHARACTERS
  })
  return end === -1 ? lines : lines.slice(0, Math.max(1, end))
}
