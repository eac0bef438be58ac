// enqueue_inputs: jobs that differ in nothing but their input.
import { describe, expect, test } from 'vitest'
import { ask, askList, askRow, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()
const enqueue = (inputs: unknown, common: unknown = { type: 'task' }, wake = 'always') =>
  askValue<string[]>(db.pool, 'select holdfast.enqueue_inputs_v1($1, $2, $3)::text[]', [
    JSON.stringify(inputs),
    JSON.stringify(common),
    wake,
  ])

test('gives one id per input, in order, and every job is pending with the common options', async () => {
  const pipeline_id = '7d444840-9dc0-11d1-b245-5ffdce74fad2'
  const ids = await enqueue([{ n: 1 }, [2], null], {
    type: 'mail',
    queue: 'bulk',
    priority: 2,
    max_attempts: 7,
    run_at: '2090-01-01T00:00:00Z',
    pipeline_id,
    tags: ['x'],
  })

  const jobs = await Promise.all(ids.map((id) => askRow(db.pool, 'select * from holdfast.find_job($1)', [id])))
  expect(jobs.map(({ input }) => input)).toEqual([{ n: 1 }, [2], null])
  for (const job of jobs) {
    expect(job).toMatchObject({
      state: 'pending',
      type: 'mail',
      queue: 'bulk',
      priority: 2,
      max_attempts: 7,
      run_at: new Date('2090-01-01T00:00:00Z'),
      pipeline_id,
      tags: ['x'],
    })
  }
})

test('a described type brings its defaults', async () => {
  await ask(
    db.pool,
    `select holdfast.put_job_types_v1('[{"type": "task", "queue": "own", "priority": 1, "max_attempts": 9,
      "lease_seconds": 30, "backoff_base_ms": 1, "backoff_max_ms": 1}]')`,
  )
  const [id] = await enqueue([{}])

  expect(await askRow(db.pool, 'select queue, priority, max_attempts from holdfast.find_job($1)', [id])).toEqual({
    queue: 'own',
    priority: 1,
    max_attempts: 9,
  })
})

test('a thousand inputs keep their order', async () => {
  const ids = await enqueue(Array.from({ length: 1000 }, (_, n) => ({ n })))

  const order = await askList<number>(
    db.admin,
    `select (j.input ->> 'n')::int from unnest($1::bigint[]) with ordinality as i(id, place)
       join holdfast.job as j using (id) order by i.place`,
    [ids],
  )
  expect(order).toEqual(Array.from({ length: 1000 }, (_, n) => n))
})

test('no inputs make no jobs', async () => {
  expect(await enqueue([])).toEqual([])
})

describe('is refused as a whole', () => {
  const deep = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`)
  test.each<[string, unknown, unknown, string, RegExp]>([
    ['inputs that are no array', {}, { type: 'task' }, 'JH005', /inputs must be a JSON array/],
    ['no type', [{}], {}, 'JH005', /need a type/],
    ['a type with a control character', [{}], { type: 'a\u0001' }, 'JH005', /type must be text/],
    ['an unknown option', [{}], { type: 'task', colour: 'red' }, 'JH005', /unknown option "colour"/],
    ['a key', [{}], { type: 'task', key: 'k' }, 'JH005', /no input, key or dedupe_id/],
    ['a dedupe_id', [{}], { type: 'task', dedupe_id: 'd' }, 'JH005', /no input, key or dedupe_id/],
    ['a common input', [{}], { type: 'task', input: {} }, 'JH005', /no input, key or dedupe_id/],
    ['options that are no object', [{}], [], 'JH005', /must be a JSON object/],
    ['an input that is too deep', [{}, deep], { type: 'task' }, 'JH004', /nested deeper than 64/],
    ['an input that is too large', ['x'.repeat(300_000)], { type: 'task' }, 'JH004', /at most 262144/],
    ['a word on waking that is none', [{}], { type: 'task' }, 'JH005', /wake must be/],
  ])('%s', async (what, inputs, common, code, message) => {
    const call = enqueue(inputs, common, what.startsWith('a word') ? 'loudly' : 'always')

    await expect(call).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(await askValue(db.admin, 'select count(*)::int from holdfast.job')).toBe(0)
  })

  test('the place of the first bad input is told', async () => {
    await expect(enqueue([{}, {}, deep, deep])).rejects.toMatchObject({ detail: expect.stringContaining('2') })
  })
})

test.each(['null', '[]', '"type"', '7'])('%s is refused for options', async (common) => {
  const call = `select holdfast.enqueue_inputs_v1('[1]', $1)`

  await expect(ask(db.pool, call, [common])).rejects.toThrow(/^INVALID_OPTION: common options must be/)
})
