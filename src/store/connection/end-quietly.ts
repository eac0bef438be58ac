// Ends a connection whose server may be gone.

import type pg from 'pg'

/** end() waits for the server to close; one that is gone never does, so the socket is taken away from it. */
export async function endQuietly(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  const timer = setTimeout(() => stream.destroy(), 500)
  await client.end().catch(() => {})
  clearTimeout(timer)
}
