// A real pool on the test's database whose answers a test can lose or hold back, to stage what a network does.
import pg from 'pg'

export interface LossyPool {
  readonly pool: pg.Pool
  /** Loses the answer to the next statement that contains `text`: it has been done, and the caller hears of a reset. */
  loseAnswerTo(text: string): Promise<void>
  /** Holds the answer to the next statement that contains `text` back until `mayCome`. */
  delayAnswerTo(text: string, mayCome: Promise<void>): void
  /** How often a statement that contains `text` was sent. */
  timesSent(text: string): number
}

export function lossyPool(connectionString: string): LossyPool {
  const pool = new pg.Pool({ connectionString, application_name: 'lossy' })
  const sent: string[] = []
  const losing: { text: string; lost: () => void }[] = []
  const delaying: { text: string; mayCome: Promise<void> }[] = []
  pool.on('connect', (client) => {
    const really = client.query.bind(client) as (...args: unknown[]) => Promise<pg.QueryResult>
    const query = async (...args: unknown[]) => {
      const [what] = args as [string | { text: string }]
      const statement = typeof what === 'string' ? what : what.text
      sent.push(statement)
      const result = await really(...args)
      const delay = delaying.findIndex(({ text }) => statement.includes(text))
      if (delay !== -1) for (const { mayCome } of delaying.splice(delay, 1)) await mayCome
      const loss = losing.findIndex(({ text }) => statement.includes(text))
      if (loss === -1) return result
      for (const { lost } of losing.splice(loss, 1)) lost()
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    }
    Object.assign(client, { query })
  })
  return {
    pool,
    delayAnswerTo: (text, mayCome) => void delaying.push({ text, mayCome }),
    loseAnswerTo: (text) => new Promise((lost) => losing.push({ text, lost })),
    timesSent: (text) => sent.filter((statement) => statement.includes(text)).length,
  }
}
