import { describe, expect, test } from 'vitest'
import { FINAL_STATES, JOB_STATES, type JobState } from './job.js'
import {
  allowed,
  drawDiagram,
  drawMatrix,
  OPERATIONS,
  type Operation,
  type Origin,
  refusalOf,
  TRANSITIONS,
} from './transitions.js'

describe('the table', () => {
  test('has one row for each operation and origin', () => {
    const pairs = TRANSITIONS.map(({ operation, from }) => `${operation} ${from}`)

    expect(new Set(pairs).size).toBe(pairs.length)
  })

  test('has a row for every operation, and only known states', () => {
    expect(new Set(TRANSITIONS.map(({ operation }) => operation))).toEqual(new Set(OPERATIONS))
    for (const { from, to } of TRANSITIONS) {
      expect(['none', ...JOB_STATES]).toContain(from)
      for (const state of [to].flat()) expect(JOB_STATES).toContain(state)
    }
  })

  test('reaches every state', () => {
    const reached = new Set<Origin>(['none'])
    for (const origin of reached) {
      for (const operation of OPERATIONS) for (const state of allowed(origin, operation) ?? []) reached.add(state)
    }
    reached.delete('none')

    expect([...reached].sort()).toEqual([...JOB_STATES].sort())
  })

  test.each([
    ['completed', ['complete']],
    ['failed', ['fail', 'reap']],
    ['cancelled', ['cancel']],
    ['superseded', ['supersede']],
  ] as [JobState, Operation[]][])('%s is entered only by %j', (state, operations) => {
    const entering = TRANSITIONS.filter(({ to }) => [to].flat().includes(state)).map(({ operation }) => operation)

    expect([...new Set(entering)]).toEqual(operations)
  })

  test('lets nothing but retry leave a final state', () => {
    for (const state of FINAL_STATES)
      expect(OPERATIONS.filter((operation) => allowed(state, operation))).toEqual(['retry'])
  })

  test('makes running only by claim, out of pending', () => {
    const entering = TRANSITIONS.filter(({ from, to }) => from !== 'running' && [to].flat().includes('running'))

    expect(entering).toMatchObject([{ operation: 'claim', from: 'pending' }])
  })
})

describe('allowed and refusalOf', () => {
  test('fail leads to pending or failed', () => {
    expect(allowed('running', 'fail')).toEqual(['pending', 'failed'])
  })

  test('a operation without a row is not allowed', () => {
    expect(allowed('completed', 'complete')).toBeUndefined()
    expect(allowed('none', 'cancel')).toBeUndefined()
  })

  test.each(['renew', 'complete', 'fail', 'snooze', 'release'] as Operation[])(
    '%s without the lease is LEASE_LOST',
    (operation) => {
      expect(refusalOf('pending', operation)).toBe('LEASE_LOST')
      expect(refusalOf('none', operation)).toBe('LEASE_LOST')
    },
  )

  test.each(['cancel', 'retry'] as Operation[])('%s is refused by state, and by absence of the job', (operation) => {
    expect(refusalOf('completed', operation)).toBe('WRONG_STATE')
    expect(refusalOf('none', operation)).toBe('JOB_NOT_FOUND')
  })

  test('a claim of what cannot be claimed is no error', () => {
    expect(refusalOf('running', 'claim')).toBeNull()
  })
})

describe('drawings', () => {
  test('the diagram has an arrow for every row and target', () => {
    const lines = drawDiagram().split('\n')

    expect(lines[0]).toBe('stateDiagram-v2')
    expect(lines).toContain('  [*] --> pending: enqueue')
    for (const { operation, from, to } of TRANSITIONS) {
      for (const state of [to].flat()) {
        expect(lines).toContain(`  ${from === 'none' ? '[*]' : from} --> ${state}: ${operation}`)
      }
    }
    expect(lines.filter((line) => line.endsWith('--> [*]'))).toHaveLength(FINAL_STATES.length)
  })

  test('the matrix has a row for each origin, a column for each operation', () => {
    const lines = drawMatrix().trimEnd().split('\n')
    const cellsOf = (state: string) => lines.find((line) => line.startsWith(`| ${state} `))?.split(' | ')

    expect(lines).toHaveLength(2 + 1 + JOB_STATES.length)
    expect(new Set(lines.map((line) => line.split(' | ').length))).toEqual(new Set([OPERATIONS.length + 1]))
    expect(cellsOf('running')?.[1 + OPERATIONS.indexOf('fail')]).toBe('→ pending or failed')
    expect(cellsOf('completed')?.[1 + OPERATIONS.indexOf('complete')]).toBe('`LEASE_LOST`')
    expect(cellsOf('running')?.[1 + OPERATIONS.indexOf('claim')]).toBe('–')
  })
})
