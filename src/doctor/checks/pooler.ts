// What a session may rely on, and what workers do without.

import type { Check } from '../check.js'
import { ok, warn } from '../finding.js'

export const pooler: Check = {
  name: 'pooler',
  needs: 'server',
  async examine({ database }) {
    const { listen, sessionLocks, preparedStatements } = database.capabilities
    const missing = [
      ...(listen ? [] : ['LISTEN']),
      ...(sessionLocks ? [] : ['session locks']),
      ...(preparedStatements ? [] : ['prepared statements']),
    ]
    if (missing.length === 0) return [ok('sessions are the client’s own: LISTEN, session locks, prepared statements')]
    return [
      warn(
        `a pooler in transaction mode stands before the server: no ${missing.join(', ')}. Workers poll every second, and a dead one is missed after 10 s instead of 3`,
        'give workers the address of the server itself or of a pool in session mode; enqueuing through the pooler is fine',
      ),
    ]
  },
}
