import { describe, expect, test } from 'vitest'
import { Caller } from './principal.js'
import { Redaction } from './redaction.js'
import { shownEntry } from './shown-details.js'

const redaction = new Redaction({ '*': ['password'], pay: ['card'] })
const entry = {
  id: '1',
  at: new Date(0),
  actor: 'ada',
  action: 'update_schedule',
  jobId: null,
  details: {
    job_key: 'k',
    before: { type: 'pay', input: { card: 1, password: 2, left: 3 } },
    list: [{ input: { password: 2, card: 1 } }],
  },
}

describe('shownEntry', () => {
  test('hides inputs at any depth from who may not see inputs', () => {
    const { details } = shownEntry(entry, new Caller({ name: 'a', permissions: ['view'] }), redaction)

    expect(details).toEqual({
      job_key: 'k',
      before: { type: 'pay', input: '[redacted]' },
      list: [{ input: '[redacted]' }],
    })
  })

  test('redacts inputs by the type beside them, or by all types, for everybody else', () => {
    const { details } = shownEntry(entry, new Caller({ name: 'a', permissions: ['view', 'view_input'] }), redaction)

    expect(details).toEqual({
      job_key: 'k',
      before: { type: 'pay', input: { card: '[redacted]', password: '[redacted]', left: 3 } },
      list: [{ input: { password: '[redacted]', card: '[redacted]' } }],
    })
  })
})
