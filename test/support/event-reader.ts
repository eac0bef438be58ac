// Reads server-sent events as a browser does: whole events only, and the id of the last.

export interface LiveEvent {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: what an event holds is what its topic says
  readonly data: any
}

export interface EventReader {
  /** The next event; undefined when the stream has ended. */
  next(): Promise<LiveEvent | undefined>
  /** The first event from here on that fits. */
  until(fits: (event: LiveEvent) => boolean): Promise<LiveEvent>
  /** What has come so far, as text. */
  readonly raw: string
  /** Leaves, wherever the stream is. */
  cut(): Promise<void>
}

export function readEvents(body: ReadableStream<Uint8Array> | null): EventReader {
  if (!body) throw new Error('there is no stream')
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let raw = ''
  let read = 0
  const next = async (): Promise<LiveEvent | undefined> => {
    for (;;) {
      const end = raw.indexOf('\n\n', read)
      if (end !== -1) {
        const event = parsed(raw.slice(read, end))
        read = end + 2
        if (event) return event
        continue
      }
      const { done, value } = await reader.read()
      if (done) return undefined
      raw += decoder.decode(value, { stream: true })
    }
  }
  return {
    next,
    async until(fits) {
      for (;;) {
        const event = await next()
        if (!event) throw new Error('the stream ended before the event came')
        if (fits(event)) return event
      }
    },
    get raw() {
      return raw
    },
    async cut() {
      await reader.cancel().catch(() => {})
    },
  }
}

/** undefined for comments and settings. */
function parsed(block: string): LiveEvent | undefined {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    }),
  )
  if (fields.data === undefined) return undefined
  return { id: fields.id ?? '', event: fields.event ?? 'message', data: JSON.parse(fields.data) }
}
