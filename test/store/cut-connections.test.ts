// Connections that the server ends at an awkward moment: the call fails, the process goes on.
import { connect, createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { OWN_SESSION } from '../../src/store/connection/capabilities.js'
import { openAddress } from '../../src/store/connection/server.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1')
const ENDED = endedByAdministrator()
let server: Server
afterEach(() => new Promise((closed) => server.close(closed)))

/** A way to the database on which the first connection is ended in the same breath in which it is ready. */
async function endingFirst(url: string) {
  const { hostname, port } = new URL(url)
  let ended = 0
  server = createServer((near) => {
    const far = connect(Number(port), hostname)
    near.pipe(far)
    near.on('error', () => far.destroy())
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    far.on('data', (bytes) => {
      const isReady = ended === 0 && bytes.subarray(-READY.length).equals(READY)
      if (isReady) ended += 1
      if (isReady) near.end(Buffer.concat([bytes, ENDED]))
      else near.write(bytes)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const way = new URL(url)
  way.port = String((server.address() as { port: number }).port)
  return { url: way.href, ended: () => ended }
}

function endedByAdministrator(): Buffer {
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command']
  const body = Buffer.from(`${fields.join('\0')}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

test('a connection that is ended before anybody could ask anything fails that call, and the next has another', async () => {
  const way = await endingFirst(db.whole.adminUrl)
  const database = openAddress({ connectionString: way.url }, OWN_SESSION, 2)

  await expect(database.query('select 1')).rejects.toThrow(/connection/i)
  expect(way.ended()).toBe(1)
  expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }])

  await database.close()
})
