import { expect, test } from 'vitest'
import type { SchemaElement } from '../store/schema/schema-description.js'
import { driftOf } from './drift.js'

const element = (kind: SchemaElement['kind'], owner: string, name: string, text = ''): SchemaElement => ({
  kind,
  owner,
  name,
  text,
  grantees: [],
})
const table = element('table', 'job', 'job')
const column = element('column', 'job', 'queue', `text not null default 'default'::text`)
const key = element('constraint', 'job', 'job_pkey', 'PRIMARY KEY (id)')
const keyIndex = element('index', 'job', 'job_pkey', 'CREATE UNIQUE INDEX job_pkey ON holdfast.job USING btree (id)')
const index = element('index', 'job', 'job_of_key', 'CREATE INDEX job_of_key ON holdfast.job USING btree (key)')
const fresh = [table, column, key, keyIndex, index]

test('a schema that is as it was made has no drift', () => {
  expect(driftOf(fresh, fresh)).toEqual([])
})

test('a missing table is reported once, not with each of its parts, and no statement pretends to restore its rows', () => {
  expect(driftOf(fresh, [])).toEqual([{ text: 'table job is missing', sql: [], isHarmful: true }])
})

test('a missing index is built while others write; on a partitioned table that is not possible', () => {
  const [ofJob] = driftOf(fresh, [table, column, key, keyIndex])
  const parts = [element('table', 'outcome', 'outcome'), element('table', 'outcome_default', 'outcome_default')]
  const day = element(
    'index',
    'outcome',
    'outcome_job',
    'CREATE INDEX outcome_job ON holdfast.outcome USING btree (job_id)',
  )
  const [ofOutcome] = driftOf([...parts, day], parts)

  expect(ofJob?.sql).toEqual(['CREATE INDEX CONCURRENTLY job_of_key ON holdfast.job USING btree (key);'])
  expect(ofOutcome?.sql).toEqual(['CREATE INDEX outcome_job ON holdfast.outcome USING btree (job_id);'])
})

test('a missing key is reported as its constraint, which creates the index', () => {
  expect(driftOf(fresh, [table, column, index])).toEqual([
    {
      text: 'constraint job_pkey of job is missing',
      sql: ['alter table holdfast.job add constraint job_pkey PRIMARY KEY (id);'],
      isHarmful: true,
    },
  ])
})

test.each([
  ['integer not null', [`type text using (queue::text)`, `set default 'default'::text`]],
  [`text default 'default'::text`, ['set not null']],
  [`text not null default 'other'::text`, [`set default 'default'::text`]],
])('a column that became %j is led back step by step', (text, steps) => {
  const [drift] = driftOf(fresh, [table, { ...column, text }, key, keyIndex, index])

  expect(drift?.sql).toEqual(steps.map((step) => `alter table holdfast.job alter column queue ${step};`))
})

test('an identity column comes back as one', () => {
  const id = element('column', 'job', 'id', 'bigint not null identity')

  expect(driftOf([table, id], [table])[0]?.sql).toEqual([
    'alter table holdfast.job add column id bigint not null generated always as identity;',
  ])
})

test('options that were changed are set again, strange ones reset', () => {
  const lease = element('table', 'lease', 'lease', ' with (fillfactor=60, autovacuum_vacuum_threshold=2000)')
  const now = { ...lease, text: ' with (fillfactor=100, autovacuum_vacuum_threshold=2000, autovacuum_enabled=false)' }

  expect(driftOf([lease], [now])[0]?.sql).toEqual([
    'alter table holdfast.lease set (fillfactor = 60);',
    'alter table holdfast.lease reset (autovacuum_enabled);',
  ])
})

test('an additional element is reported and left alone', () => {
  const mine = element('index', 'job', 'mine', 'CREATE INDEX mine ON holdfast.job USING btree (queue)')

  expect(driftOf(fresh, [...fresh, mine])).toEqual([
    { text: 'index mine of job is not Holdfast’s', sql: [], isHarmful: false },
  ])
})
