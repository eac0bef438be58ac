// One connection that is opened again when it breaks or does not answer, and not because its process was blocked.
import { afterEach, expect, test } from 'vitest'
import { KeptSession } from '../../src/store/connection/lasting-session.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
let prepared = 0
let session: KeptSession
const open = () => {
  prepared = 0
  session = new KeptSession({ connectionString: db.whole.adminUrl }, async (fresh) => {
    await fresh.query('select 1')
    prepared += 1
  })
}
afterEach(() => session.close())

const backend = async (text = 'select pg_backend_pid() as pid') => (await session.query(text)).rows[0]?.pid

/** Longer than it waits for an answer. */
const BLOCKED_MS = 3300

test('an answer that came while the process was blocked is read, and the session stays', async () => {
  open()
  const first = await backend()
  const asked = backend('select pg_backend_pid() as pid from pg_sleep(0.1)')
  await new Promise((resolve) => setImmediate(resolve)) // it leaves the process

  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS)

  expect(await asked).toBe(first)
  expect(prepared).toBe(1)
})

test('a session that does not answer is given up, and so is its successor; then another is opened', async () => {
  open()
  const first = await backend()

  await expect(session.query('select pg_sleep(60)')).rejects.toThrow('timeout: no answer within 3000 ms')

  expect(prepared).toBe(2)
  expect(await backend()).not.toBe(first)
  expect(prepared).toBe(3)
})

test('a session that the server has ended is replaced at the next question', async () => {
  open()
  const first = await backend()
  await db.whole.admin.query('select pg_terminate_backend($1, 10000)', [first])

  expect(await backend()).not.toBe(first)
  expect(prepared).toBe(2)
})
