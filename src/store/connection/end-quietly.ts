// Closes a connection whose server may be gone.

import type pg from 'pg'

/** end() waits for the server to close the socket, which a dead server never does: so it is destroyed after 500 ms. */
export async function endQuietly(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  const timer = setTimeout(() => stream.destroy(), 500)
  await client.end().catch(() => {})
  clearTimeout(timer)
}
