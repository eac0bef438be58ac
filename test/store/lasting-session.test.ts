// One connection that is opened again when it breaks or does not answer, but not because its process was blocked.
import { afterEach, expect, test } from 'vitest'
import { AnswerWatch } from '../../src/store/connection/answer-watch.js'
import { LastingSession } from '../../src/store/connection/lasting-session.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
const ANSWER_MS = 200
let prepared = 0
let session: LastingSession
const open = () => {
  prepared = 0
  const prepare = async (fresh: { query(text: string): Promise<unknown> }) => {
    await fresh.query('select 1')
    prepared += 1
  }
  const limits = { answerMs: ANSWER_MS, watch: new AnswerWatch(ANSWER_MS / 4) }
  session = new LastingSession({ connectionString: db.whole.adminUrl }, prepare, limits)
}
afterEach(() => session.close())

const backend = async (text = 'select pg_backend_pid() as pid') => (await session.query(text)).rows[0]?.pid

test('an answer that came while the process was blocked is read, and the session stays', async () => {
  open()
  const first = await backend()
  const asked = backend('select pg_backend_pid() as pid from pg_sleep(0.02)')
  await new Promise((resolve) => setImmediate(resolve)) // the query leaves the process

  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * ANSWER_MS)

  expect(await asked).toBe(first)
  expect(prepared).toBe(1)
})

test('a session that does not answer is replaced once, then the query fails; the next query opens another', async () => {
  open()
  const first = await backend()

  await expect(session.query('select pg_sleep(60)')).rejects.toThrow('timeout: no answer within 200 ms')

  expect(prepared).toBe(2)
  expect(await backend()).not.toBe(first)
  expect(prepared).toBe(3)
})

test('a session that the server has ended is replaced at the next query', async () => {
  open()
  const first = await backend()
  await db.whole.admin.query('select pg_terminate_backend($1, 10000)', [first])

  expect(await backend()).not.toBe(first)
  expect(prepared).toBe(2)
})
