import { expect, test } from 'vitest'
import { inSchema, readMigrations, readRepeatables } from './sql-files.js'

test('the default schema is what the files say', async () => {
  expect(inSchema('select holdfast.now()', 'holdfast')).toBe('select holdfast.now()')
  const [first] = await readMigrations('holdfast')
  expect(first).toMatchObject({ revision: 1, name: '0001_initial' })
})

test.each([
  ['select holdfast.now()', 'select "user".now()'],
  [`nextval('holdfast.job_id_seq')`, `nextval('"user".job_id_seq')`],
  [`pg_notify('holdfast_wake', '')`, `pg_notify('user_wake', '')`],
  [`'holdfast'::regnamespace`, `'user'::regnamespace`],
  [`'holdfast_' || v_role`, `'user_' || v_role`],
  ['grant select on holdfast.jobs to holdfast_viewer', 'grant select on "user".jobs to user_viewer'],
  [`format('analyze holdfast.%I', v_name)`, `format('analyze "user".%I', v_name)`],
  [`current_setting('holdfast.fake_now', true)`, `current_setting('holdfast.fake_now', true)`],
])('%s', (text, renamed) => {
  expect(inSchema(text, 'user')).toBe(renamed)
})

test('in another schema nothing of the default one is left but the setting of the clock', async () => {
  const texts = [...(await readMigrations('jobs_two')).map(({ text }) => text), ...(await readRepeatables('jobs_two'))]

  expect(texts.length).toBeGreaterThan(40)
  for (const text of texts) {
    const code = text.replace(/^\s*--.*$/gm, '').replaceAll('holdfast.fake_now', '')
    expect(code).not.toMatch(/holdfast/i)
  }
})

test('the checksum of a migration is that of its file, whatever the schema', async () => {
  const [one, two] = await Promise.all([readMigrations('holdfast'), readMigrations('jobs_two')])

  expect(two.map(({ checksum }) => checksum)).toEqual(one.map(({ checksum }) => checksum))
  expect(new Set(one.map(({ revision }) => revision)).size).toBe(one.length)
})

test('views come before functions, and grants last', async () => {
  const texts = await readRepeatables('holdfast')

  expect(texts.findIndex((text) => text.includes('create or replace view'))).toBeLessThan(
    texts.findIndex((text) => text.includes('create or replace function')),
  )
  expect(texts.at(-1)).toContain('grant execute')
})
