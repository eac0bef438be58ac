// The results of checks: what was found, with its values, and what to do about it.

export type Verdict = 'ok' | 'warn' | 'fail'

export interface Finding {
  /** The name of the check. */
  readonly check: string
  readonly verdict: Verdict
  /** What was found, with its values. */
  readonly text: string
  /** What to do about it, for a person. */
  readonly fix?: string
  /** Statements that repair it, for the owner of the schema. */
  readonly sql?: readonly string[]
}

/** A finding before the name of its check is added. */
export type CheckResult = Omit<Finding, 'check'>

export const ok = (text: string): CheckResult => ({ verdict: 'ok', text })
export const warn = (text: string, fix: string, sql?: readonly string[]): CheckResult => problem('warn', text, fix, sql)
export const fail = (text: string, fix: string, sql?: readonly string[]): CheckResult => problem('fail', text, fix, sql)

function problem(verdict: Verdict, text: string, fix: string, sql: readonly string[] = []): CheckResult {
  return { verdict, text, fix, ...(sql.length > 0 && { sql }) }
}
