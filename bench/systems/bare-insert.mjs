// The yardstick: one committed INSERT into a bare table with an identity key, by a prepared statement. No worker.
import pg from 'pg'

export const bareInsert = { name: 'bare insert', store: 'postgres', open }

async function open(url) {
  const pool = new pg.Pool({ connectionString: url, max: 20 })
  const insert = (values) =>
    pool.query({
      name: 'insert',
      text: 'insert into bare (input) select value from jsonb_array_elements($1::text::jsonb)',
      values: [JSON.stringify(values)],
    })
  return {
    prepare: async () =>
      void (await pool.query('create table bare (id bigint generated always as identity primary key, input jsonb)')),
    enqueue: (input) =>
      pool.query({ name: 'one', text: 'insert into bare (input) values ($1)', values: [JSON.stringify(input)] }),
    enqueueMany: insert,
  }
}
