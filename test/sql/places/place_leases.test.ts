// place_leases: the one insert into lease, of rows that lease_row makes from pending ones.
import { expect, test } from 'vitest'
import { ask, askRow } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const COLUMNS = 'job_id, type, queue, priority, run_at, attempts, max_attempts, crashes, key, key_policy, rank, linked'

test('a lease has what its job had when it was pending, one attempt more, and whose it is until when', async () => {
  await ask(db.admin, `select holdfast.enqueue('task', '{}', '{"key": "k", "priority": 2, "max_attempts": 4}')`)
  const client = await db.connect('admin')
  await client.query('begin')
  await ask(
    client,
    `select holdfast.place_leases(array_agg(
       holdfast.lease_row(r, 7, 'w', '00000000-0000-0000-0000-000000000001', '2030-01-01Z', '2030-01-01T00:00:30Z')))
       from holdfast.ready as r`,
  )

  const { attempts, ...pending } = await askRow(client, `select ${COLUMNS} from holdfast.ready`)
  const lease = await askRow(client, `select ${COLUMNS} from holdfast.lease`)
  const claim = await askRow(
    client,
    'select token::int, lease_id, locked_by, locked_at, locked_until, progress from holdfast.lease',
  )
  await client.query('rollback')

  expect(lease).toEqual({ ...pending, attempts: attempts + 1 })
  expect(claim).toEqual({
    token: 7,
    lease_id: '00000000-0000-0000-0000-000000000001',
    locked_by: 'w',
    locked_at: new Date('2030-01-01T00:00:00Z'),
    locked_until: new Date('2030-01-01T00:00:30Z'),
    progress: null,
  })
})
