// place_jobs: the one insert into job, of rows that job_row makes.
import { expect, test } from 'vitest'
import { askList, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

async function placed(dedupeId: string | null, count: number) {
  const client = await db.connect('admin')
  await client.query('begin')
  const row = `holdfast.job_row(nextval('holdfast.job_id_seq'), 'task', 'q', 5::smallint, 3::smallint, null, '{x}', to_jsonb(n),
                                '2030-01-01Z', null, p_dedupe_id => $1)`
  const call = `select holdfast.place_jobs(array_agg(${row})) from generate_series(1, $2) as n`
  const answers = [
    await askValue<number>(client, call, [dedupeId, count]),
    await askValue<number>(client, call, [dedupeId, count]),
  ]
  const inputs = await askList<number>(client, `select input from holdfast.job where tags = '{x}' order by id`)
  await client.query('rollback')
  return { answers, inputs }
}

test('it stores every row and returns how many', async () => {
  expect(await placed(null, 2)).toEqual({ answers: [2, 2], inputs: [1, 2, 1, 2] })
})

test('a job whose dedupe_id is known is left out', async () => {
  expect(await placed('d', 1)).toEqual({ answers: [1, 0], inputs: [1] })
})
