// A real pool on the test's database whose answers a test can lose or hold back and whose connections it can cut, to stage what a
// network does.
import type { Socket } from 'node:net'
import pg from 'pg'

export interface LossyPool {
  readonly pool: pg.Pool
  /** Loses the answer to the next statement that contains `text`: it has been done, and the caller hears of a reset. */
  loseAnswerTo(text: string): Promise<void>
  /** Does not send the next statement that contains `text`: the caller hears of a reset. */
  refuse(text: string): Promise<void>
  /** Holds the answer to the next statement that contains `text` back until `mayCome`. */
  delayAnswerTo(text: string, mayCome: Promise<void>): void
  /** Closes the connections on which statements that contain `text` are under way, on this side alone; tells how many. */
  cutOff(text: string): number
  /** How often a statement that contains `text` was sent. */
  timesSent(text: string): number
}

interface Loss {
  readonly text: string
  readonly lost: () => void
}

/** Throws as a reset connection does, once for each loss. */
function fail(losses: Loss[], statement: string): void {
  const place = losses.findIndex(({ text }) => statement.includes(text))
  if (place === -1) return
  for (const { lost } of losses.splice(place, 1)) lost()
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}

/** What the driver is given instead of a text: it tells its rows by a call. */
interface Submitted {
  readonly text: string
  readonly submit: unknown
  callback: (error: Error | null, rows?: unknown[]) => void
}

/** The driver keeps the socket to itself. */
interface Wired {
  readonly connection: { readonly stream: Socket }
}

export function lossyPool(connectionString: string): LossyPool {
  const pool = new pg.Pool({ connectionString, application_name: 'lossy' })
  const sent: string[] = []
  const underWay = new Map<pg.PoolClient, string>()
  const losing: Loss[] = []
  const refusing: Loss[] = []
  const delaying: { text: string; mayCome: Promise<void> }[] = []
  pool.on('connect', (client) => {
    const really = client.query.bind(client) as (...args: unknown[]) => Promise<pg.QueryResult>
    const send = <T>(statement: string, ask: () => T): T => {
      sent.push(statement)
      fail(refusing, statement)
      underWay.set(client, statement)
      return ask()
    }
    const receive = async (statement: string) => {
      const delay = delaying.findIndex(({ text }) => statement.includes(text))
      if (delay !== -1) for (const { mayCome } of delaying.splice(delay, 1)) await mayCome
      fail(losing, statement)
    }
    const submit = (call: Submitted) => {
      const { callback } = call
      call.callback = (error, rows) => {
        underWay.delete(client)
        if (error) callback(error)
        else receive(call.text).then(() => callback(null, rows), callback)
      }
      return send(call.text, () => really(call))
    }
    const query = async (...args: unknown[]) => {
      const [what] = args as [string | { text: string } | Submitted]
      if (typeof what === 'object' && 'submit' in what) return submit(what)
      const statement = typeof what === 'string' ? what : what.text
      let result: pg.QueryResult
      try {
        result = await send(statement, () => really(...args)) // nothing where a callback gets it
      } finally {
        underWay.delete(client)
      }
      await receive(statement)
      return result
    }
    Object.assign(client, { query })
  })
  const cutOff = (text: string) => {
    const cut = [...underWay].filter(([, statement]) => statement.includes(text))
    for (const [client] of cut) (client as unknown as Wired).connection.stream.destroy()
    return cut.length
  }
  return {
    pool,
    cutOff,
    delayAnswerTo: (text, mayCome) => void delaying.push({ text, mayCome }),
    refuse: (text) => new Promise((lost) => refusing.push({ text, lost })),
    loseAnswerTo: (text) => new Promise((lost) => losing.push({ text, lost })),
    timesSent: (text) => sent.filter((statement) => statement.includes(text)).length,
  }
}
