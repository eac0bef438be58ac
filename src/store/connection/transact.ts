// One transaction on one connection, and whether the server has committed it.

import type pg from 'pg'
import { HoldfastError } from '../../domain/error/errors.js'

export interface TransactOptions {
  /** Limits how long begin, commit and rollback wait for their answer. */
  readonly inTime: <T>(asked: Promise<T>) => Promise<T>
  /** Whether the settings and the role of the session are reset at the end: not on the application's own pool. */
  readonly resetsSession: boolean
}

// In one message with the commit: costs no round trip, and a pooler sends it to the same session. Prepared statements stay.
const RESET = '; reset session authorization; reset role; reset all'

/** `spoil` is called when the connection must not be used again: the rollback tells, whatever `work` has thrown. */
export async function transact<T>(
  client: pg.PoolClient,
  work: (tx: pg.PoolClient) => Promise<T>,
  { inTime, resetsSession }: TransactOptions,
  spoil: (error: Error) => void,
): Promise<T> {
  const end = (command: string) => inTime(client.query(resetsSession ? command + RESET : command))
  try {
    await inTime(client.query('begin isolation level read committed'))
    const result = await work(client)
    const answer: pg.QueryResult | pg.QueryResult[] = await end('commit')
    const [committed] = Array.isArray(answer) ? answer : [answer]
    if (committed?.command === 'ROLLBACK') throw new HoldfastError('TRANSACTION_ROLLED_BACK')
    return result
  } catch (error) {
    await end('rollback').catch(spoil) // a broken connection rolls back by itself
    throw error
  }
}
