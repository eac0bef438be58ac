// A TCP proxy on the loopback that can stop passing bytes on without closing anything: a half-open connection.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** @param {string} url of the server behind it */
export async function openProxy(url) {
  const target = new URL(url)
  const pairs = new Set()
  let swallows = { asked: false, answered: false }
  let swallowed = 0

  const pass = (from, to, direction) =>
    from.on('data', (bytes) => {
      if (swallows[direction]) swallowed += bytes.length
      else if (!to.destroyed) to.write(bytes)
    })
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    const pair = { client, server }
    pairs.add(pair)
    pass(client, server, 'asked')
    pass(server, client, 'answered')
    for (const [side, other] of [
      [client, server],
      [server, client],
    ]) {
      side.on('error', () => {})
      // A half-open connection leaves one side unaware that the other is gone.
      side.on('close', () => {
        pairs.delete(pair)
        if (!swallows.asked) other.destroy()
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const through = new URL(url)
  through.port = String(listener.address().port)

  return {
    url: through.href,
    swallowed: () => swallowed,
    /** Nothing gets through, in either direction. */
    swallowAll() {
      swallows = { asked: true, answered: true }
    },
    /** What is asked arrives and is done; the answer is lost. */
    swallowAnswers() {
      swallows = { asked: false, answered: true }
    },
    /** New bytes pass again; what was swallowed stays lost. */
    heal() {
      swallows = { asked: false, answered: false }
    },
    /** Closes what is open, on both sides. */
    cut() {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
    },
    async close() {
      listener.close()
      this.cut()
      await once(listener, 'close')
    },
  }
}
