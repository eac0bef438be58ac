// Short ways to ask a session one thing in SQL and look at the answer.
import type pg from 'pg'

/** A pool or a client. */
export type Session = Pick<pg.Pool, 'query'> | Pick<pg.Client, 'query'>

// biome-ignore lint/suspicious/noExplicitAny: the columns of an ad hoc query are what its text says
export type Row = Record<string, any>

export async function ask<R extends Row = Row>(session: Session, text: string, values: unknown[] = []): Promise<R[]> {
  const { rows } = await (session as pg.Client).query<R>(text, values)
  return rows
}

/** The only row. */
export async function askRow<R extends Row = Row>(session: Session, text: string, values: unknown[] = []): Promise<R> {
  const [row, ...more] = await ask<R>(session, text, values)
  if (row === undefined || more.length > 0)
    throw new Error(`expected one row, got ${row ? more.length + 1 : 0}: ${text}`)
  return row
}

/** The first column of the only row. */
export async function askValue<T>(session: Session, text: string, values: unknown[] = []): Promise<T> {
  return Object.values(await askRow(session, text, values))[0] as T
}

/** The first column of all rows. */
export async function askList<T>(session: Session, text: string, values: unknown[] = []): Promise<T[]> {
  return (await ask(session, text, values)).map((row) => Object.values(row)[0] as T)
}
