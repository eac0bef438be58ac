// LISTEN on a connection of its own, never a pooled one: LISTEN is a state of the session.

import pg from 'pg'

export interface Listening {
  /** Asks the server whether the session still listens; rejects when the connection does not answer. */
  check(): Promise<boolean>
  close(): Promise<void>
}

// A connection that takes longer to answer is replaced.
const CHECK_MS = 5000

/** Calls `heard` at each notification on `channel`, and `lost` once when the connection breaks. */
export async function listenWith(
  client: pg.Client,
  channel: string,
  heard: () => void,
  lost: (error: Error) => void,
): Promise<Listening> {
  let closed = false
  const fail = (error: Error) => {
    if (closed) return
    closed = true
    client.end().catch(() => {})
    lost(error)
  }
  client.on('error', fail)
  client.on('end', () => fail(new Error('the listening connection has ended')))
  client.on('notification', (message) => {
    if (message.channel === channel) heard()
  })
  try {
    await client.connect()
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
  } catch (error) {
    closed = true
    client.end().catch(() => {})
    throw error
  }
  return {
    async check() {
      const question = { text: 'select c.name from pg_listening_channels() as c(name)', query_timeout: CHECK_MS }
      const { rows } = await client.query(question)
      return rows.some((row) => row.name === channel)
    },
    async close() {
      closed = true
      await client.end().catch(() => {})
    },
  }
}
