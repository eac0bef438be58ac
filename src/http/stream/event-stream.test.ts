import { describe, expect, test } from 'vitest'
import { EventStream, type StreamOptions } from './event-stream.js'
import { LogWindow } from './log-window.js'
import type { Watch } from './watch.js'

function watchOf(name = 'stats'): Watch {
  const [kind = '', of = ''] = name.split(':')
  return {
    key: name,
    topic: { kind: kind as 'stats', of, name },
    queues: undefined,
    readers: new Set(),
    latest: undefined,
    storedVersion: undefined,
    lines: undefined,
    steps: undefined,
    isSettled: false,
    dueAt: 0,
  }
}

function open(watches: Watch[], options: Partial<StreamOptions> = {}) {
  const ended: string[] = []
  const stream = new EventStream({
    watches,
    positions: new Map(),
    slowReaderMs: 10_000,
    streamMs: 60_000,
    now: 0,
    lines: async () => [],
    disconnect: undefined,
    onEnd: () => ended.push('end'),
    onFault: () => ended.push('fault'),
    ...options,
  })
  const reader = stream.body.getReader()
  const decoder = new TextDecoder()
  const read = async () => {
    const { done, value } = await reader.read()
    return done ? undefined : decoder.decode(value)
  }
  return { stream, read, reader, ended }
}

/** As a look does it. */
function change(watch: Watch, stream: EventStream, version: string, text = `{"n":"${version}"}`): void {
  watch.latest = { version, text }
  stream.mark(watch)
}

const LARGE = JSON.stringify('x'.repeat(70_000))

describe('an event stream', () => {
  test('begins with how soon to come back, and tells a state once', async () => {
    const watch = watchOf()
    const { stream, read } = open([watch])

    expect(await read()).toBe('retry: 1000\n\n')
    change(watch, stream, 'v1')
    stream.mark(watch)
    change(watch, stream, 'v2')

    expect(await read()).toBe('id: stats=v1.0\nevent: stats\ndata: {"topic":"stats","stats":{"n":"v1"}}\n\n')
    expect(await read()).toContain('stats=v2.0')
  })

  test('of a reader that stands still keeps one buffer, whatever happens meanwhile, and then tells only how it is', async () => {
    const watch = watchOf()
    const { stream, read } = open([watch])
    await read()
    change(watch, stream, 'v0', LARGE)
    for (let i = 1; i <= 1000; i += 1) change(watch, stream, `v${i}`, LARGE)

    const events = [await read(), await read()]
    stream.close()

    expect(events.map((event) => /stats=(\w+)/.exec(event ?? '')?.[1])).toEqual(['v0', 'v1000'])
    expect(await read()).toBeUndefined()
  })

  test('drops a reader that takes nothing for too long, by its connection where there is one', async () => {
    const watch = watchOf()
    const told: string[] = []
    const { stream, ended } = open([watch], { disconnect: () => told.push('disconnected') })
    change(watch, stream, 'v1', LARGE)

    stream.heartbeat(1000)
    stream.heartbeat(10_999)
    expect(told).toEqual([])
    stream.heartbeat(11_000)

    expect([told, ended]).toEqual([['disconnected'], ['end']])
  })

  test('without a connection to end fails, so that what waits is forgotten', async () => {
    const watch = watchOf()
    const { stream, read } = open([watch])
    change(watch, stream, 'v1', LARGE)
    stream.heartbeat(0)
    stream.heartbeat(10_000)

    await expect(read()).rejects.toThrow(/does not read/)
  })

  test('keeps a reader that reads late but in time', async () => {
    const watch = watchOf()
    const { stream, read, ended } = open([watch])
    change(watch, stream, 'v1', LARGE)
    stream.heartbeat(0)
    await read()
    await read()
    stream.heartbeat(9000)
    stream.heartbeat(18_000)

    expect(ended).toEqual([])
  })

  test('says that it is still there, and ends when its time is over', async () => {
    const { stream, read, ended } = open([watchOf()])
    await read()

    stream.heartbeat(14_999)
    stream.heartbeat(15_000)
    expect(await read()).toBe(': still here\n\n')
    stream.heartbeat(60_000)

    expect(await read()).toBeUndefined()
    expect(ended).toEqual(['end'])
  })

  test('of a reader who leaves tells the hub', async () => {
    const { reader, ended } = open([watchOf()])

    await reader.cancel()

    expect(ended).toEqual(['end'])
  })

  test('reads older lines than the watch remembers, in pieces, and each once', async () => {
    const watch = watchOf('job:7')
    const all = Array.from({ length: 25 }, (_, i) => ({ id: String(i + 1), text: String(i + 1) }))
    watch.lines = new LogWindow('20')
    watch.lines.add(all.slice(20))
    watch.latest = { version: 'v', text: '{}' }
    const asked: string[] = []
    const { stream, read } = open([watch], {
      lines: async (_id, after) => {
        asked.push(after)
        return all.slice(Number(after), Number(after) + 10)
      },
    })

    const events = [await read(), await read(), await read(), await read()].join('')
    stream.close()

    const lines = [...events.matchAll(/"logs":\[([\d,]*)\]/g)].flatMap((match) => (match[1] ?? '').split(','))
    expect(lines).toEqual(all.map(({ id }) => id))
    expect(asked).toEqual(['0', '10'])
  })

  test('ends in good order when lines cannot be read, so that its reader comes back', async () => {
    const watch = watchOf('job:7')
    watch.lines = new LogWindow('20')
    watch.latest = { version: 'v', text: '{}' }
    const { read, ended } = open([watch], { lines: () => Promise.reject(new Error('away')) })

    expect(await read()).toMatch(/^retry/)
    expect(await read()).toBeUndefined()
    expect(ended).toEqual(['fault', 'end'])
  })
})
