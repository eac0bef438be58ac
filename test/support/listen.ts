// Hears the notifications of a database, in the order of their commits.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { ask } from './ask.js'

/** Gives what was notified on the channel since it was last asked, up to all that had committed when it is asked. */
export async function listen(client: pg.Client, channel: string): Promise<() => Promise<string[]>> {
  let heard: string[] = []
  let onMark = (_payload: string) => {}
  client.on('notification', ({ channel: on, payload = '' }) => (on === channel ? heard.push(payload) : onMark(payload)))
  await ask(client, `listen ${channel}`)
  await ask(client, 'listen mark')
  return async () => {
    const mark = randomUUID()
    const reached = new Promise<void>((resolve) => {
      onMark = (payload) => payload === mark && resolve()
    })
    await ask(client, `select pg_notify('mark', $1)`, [mark])
    await reached
    const all = heard
    heard = []
    return all
  }
}
