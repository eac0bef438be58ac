// Stands between a Holdfast and the test's PostgreSQL and counts what is asked, on every connection and from every thread.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface StatementCounter {
  /** The database behind it, through it. */
  readonly url: string
  /** Statements sent so far. */
  sent(): number
  /** Statements whose text contains `part`, where it was sent with the statement and not prepared before. */
  sentWith(part: string): number
  close(): Promise<void>
}

export async function countStatements(url: string): Promise<StatementCounter> {
  const { hostname, port } = new URL(url)
  const texts: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    const read = frontendReader((text) => texts.push(text))
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // the other side closes too
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (data) => {
      read(data)
      far.write(data)
    })
    far.on('data', (data) => near.write(data))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: through.href,
    sent: () => texts.length,
    sentWith: (part) => texts.filter((text) => text.includes(part)).length,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Reads what a client says; every Sync or simple Query ends one statement. */
function frontendReader(statement: (text: string) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let hasStarted = false
  let text = ''
  return (data) => {
    rest = Buffer.concat([rest, data])
    for (;;) {
      const head = hasStarted ? 1 : 0 // the first message has no letter
      if (rest.length < head + 4) return
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return
      const letter = hasStarted ? rest.toString('latin1', 0, 1) : ''
      if (letter === 'P' || letter === 'Q') text = rest.toString('utf8', head + 4, end)
      if (letter === 'S' || letter === 'Q') {
        statement(text)
        text = ''
      }
      hasStarted = true
      rest = rest.subarray(end)
    }
  }
}
