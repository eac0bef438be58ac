// live_counts: what is alive now.
import { expect, test } from 'vitest'
import { ask, askRow, type Session } from '../../support/ask.js'
import { setClock } from '../../support/clock.js'
import { givenIn } from '../../support/given.js'
import { enqueuePipeline } from '../../support/pipelines.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const counts = (session: Session = db.pool) => askRow(session, 'select * from holdfast.live_counts_v1()')

test('pending, waiting and running jobs and beating workers are counted, finished jobs are not', async () => {
  await enqueuePipeline(db.pool, [{ name: 'a' }, { name: 'b', after: ['a'] }, { name: 'c', after: ['a'] }])
  await givenIn(db.pool).runningJob()
  await givenIn(db.pool).finishedJob('completed')
  const session = await db.connect('admin')
  await setClock(session, '2026-03-01T12:00:00Z')
  await ask(
    session,
    `insert into holdfast.worker (id, pod, pid, version, queues, types, concurrency, started_at, heartbeat_at)
     select n::text, 'p', 1, '1', '{}', '{}', 1, holdfast.now(), holdfast.now() - n * interval '8 seconds' from generate_series(1, 2) as n`,
  )

  expect(await counts(session)).toEqual({ pending: 1, waiting: 2, running: 1, workers: 1 })
})

test('counting ends at ten thousand and one', async () => {
  await ask(
    db.admin,
    `select holdfast.enqueue_jobs((select jsonb_agg('{"type": "task", "input": {}}'::jsonb) from generate_series(1, 1000)))
    from generate_series(1, 11)`,
  )

  expect(await counts()).toMatchObject({ pending: 10_001 })
})
