// Inputs turn up in places that are not jobs: in the settings of schedules that the audit keeps, in filters of bulk operations.
// They are held back there as they are in jobs.

import type { BulkOperation } from '../domain/operate/bulk-operation.js'
import type { AuditEntry } from '../domain/operate/job-views.js'
import type { Caller } from './principal.js'
import { REDACTED, type Redaction } from './redaction.js'

export function shownEntry(entry: AuditEntry, caller: Caller, redaction: Redaction): AuditEntry {
  return { ...entry, details: shown(entry.details, caller, redaction) as AuditEntry['details'] }
}

export function shownOperation(operation: BulkOperation, caller: Caller, redaction: Redaction): BulkOperation {
  return { ...operation, filter: shown(operation.filter, caller, redaction) as BulkOperation['filter'] }
}

/** Every property called `input`, wherever it is; a `type` beside it says whose it is. */
function shown(value: unknown, caller: Caller, redaction: Redaction): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => shown(item, caller, redaction))
  const type = (value as { type?: unknown }).type
  const entries = Object.entries(value).map(([name, item]) => {
    if (name !== 'input') return [name, shown(item, caller, redaction)]
    return [
      name,
      caller.may('view_input') ? redaction.apply(typeof type === 'string' ? type : undefined, item) : REDACTED,
    ]
  })
  return Object.fromEntries(entries)
}
