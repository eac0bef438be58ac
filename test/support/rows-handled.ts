// How many rows PostgreSQL handles for one call: in every statement inside it, and in every node of their plans.
import type pg from 'pg'
import { ask, askList } from './ask.js'

interface PlanNode {
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

export interface Handled {
  readonly rows: number
  /** The functions of the schema that ran, those that became part of another statement left out. */
  readonly functions: readonly string[]
  /** The statement that handled most of the rows. */
  readonly dearest: string
}

/** For an owner who may load modules of the server. Plans are the same as without it. */
export async function prepareToCount(client: pg.Client): Promise<void> {
  await client.query(`
    load 'auto_explain';
    set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_format = json;
    set auto_explain.log_level = notice;
    set track_functions = 'all'`)
}

/** Makes the call in a transaction of its own. */
export async function countRows<T>(client: pg.Client, call: () => Promise<T>): Promise<Handled & { result: T }> {
  const plans: { text: string; rows: number }[] = []
  const onNotice = ({ message = '' }: { message?: string | undefined }) => {
    const json = message.indexOf('{')
    if (!message.includes('plan:') || json === -1) return
    const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(json))
    plans.push({ text, rows: rowsOf(plan) })
  }
  client.on('notice', onNotice)
  await ask(client, 'begin')
  await ask(client, 'set local auto_explain.log_min_duration = 0')
  const result = await call()
  await ask(client, 'set local auto_explain.log_min_duration = -1')
  client.off('notice', onNotice)
  const functions = await askList<string>(
    client,
    `select distinct funcname::text from pg_stat_xact_user_functions where schemaname = 'holdfast' and calls > 0`,
  )
  await ask(client, 'commit')
  const [first = { text: '', rows: 0 }] = plans.sort((a, b) => b.rows - a.rows)
  const dearest = `${first.rows} rows: ${first.text.replace(/\s+/g, ' ').slice(0, 160)}`
  return { result, functions, dearest, rows: plans.reduce((sum, { rows }) => sum + rows, 0) }
}

function rowsOf(node: PlanNode): number {
  const each =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return (node.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), Math.round(each * node['Actual Loops']))
}
