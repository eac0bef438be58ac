// What an examination says: one line per thing looked at, with the fact it rests on and what to do.

export type Verdict = 'ok' | 'warn' | 'fail'

export interface Finding {
  /** Which check it comes from. */
  readonly check: string
  readonly verdict: Verdict
  /** What was seen, with its values. */
  readonly fact: string
  /** What to do about it, for a person. */
  readonly fix?: string
  /** Statements that repair it, for whoever owns the schema. */
  readonly sql?: readonly string[]
}

/** What a check returns; its name is added by whoever asks. */
export type Told = Omit<Finding, 'check'>

export const ok = (fact: string): Told => ({ verdict: 'ok', fact })
export const warn = (fact: string, fix: string, sql?: readonly string[]): Told => told('warn', fact, fix, sql)
export const fail = (fact: string, fix: string, sql?: readonly string[]): Told => told('fail', fact, fix, sql)

function told(verdict: Verdict, fact: string, fix: string, sql: readonly string[] = []): Told {
  return { verdict, fact, fix, ...(sql.length > 0 && { sql }) }
}
