// enqueue: one job from psql, a trigger or another language.
import { expect, test } from 'vitest'
import { ask, askRow, askValue } from '../../support/ask.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('a type alone is enough', async () => {
  const id = await askValue(db.pool, `select holdfast.enqueue('mail')`)

  expect(await askRow(db.admin, 'select id, type, input, state from holdfast.jobs')).toEqual({
    id,
    type: 'mail',
    input: {},
    state: 'pending',
  })
})

test('parameters can be given by name', async () => {
  await ask(
    db.pool,
    `select holdfast.enqueue(type => 'mail', options => '{"priority": 1}', input => '{"to": "a@example.org"}')`,
  )

  expect(await askRow(db.admin, 'select input, priority from holdfast.jobs')).toEqual({
    input: { to: 'a@example.org' },
    priority: 1,
  })
})

test('a trigger of the application enqueues in the transaction that fires it', async () => {
  await ask(
    db.admin,
    `create table public.orders (id integer);
     create function public.on_order() returns trigger language plpgsql as
       $$ begin perform holdfast.enqueue('order', to_jsonb(new)); return new; end $$;
     create trigger t after insert on public.orders for each row execute function public.on_order();
     grant insert on public.orders to public`,
  )
  const client = await db.connect()

  await client.query('begin')
  await client.query('insert into public.orders values (1)')
  await client.query('rollback')
  await client.query('insert into public.orders values (2)')

  expect(await askValue(db.admin, 'select input from holdfast.job')).toEqual({ id: 2 })
})

test('a known dedupe_id gives the same id', async () => {
  const enqueue = `select holdfast.enqueue('mail', '{}', '{"dedupe_id": "d"}')`

  expect(await askValue(db.pool, enqueue)).toBe(await askValue(db.pool, enqueue))
})

test.each([
  ['options that are no object', ['a', '{}', '[]'], 'JH005'],
  ['options of null', ['a', '{}', null], 'JH005'],
  ['type among the options', ['a', '{}', '{"type": "b"}'], 'JH005'],
  ['input among the options', ['a', '{}', '{"input": 1}'], 'JH005'],
  ['an unknown option', ['a', '{}', '{"x": 1}'], 'JH005'],
  ['no type', [null, '{}', '{}'], 'JH005'],
  ['an input that is too large', ['a', JSON.stringify('x'.repeat(262_144)), '{}'], 'JH004'],
])('%s is refused by its code', async (_what, values, code) => {
  await expect(ask(db.pool, 'select holdfast.enqueue($1, $2, $3)', values)).rejects.toMatchObject({ code })
})
