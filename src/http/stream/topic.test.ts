import { describe, expect, test } from 'vitest'
import { parseTopics } from './topic.js'

describe('parseTopics', () => {
  test('reads each kind, and a name with any character', () => {
    const uuid = '0b8f2c3e-7a51-4d0e-9a43-1f2e3d4c5b6a'

    expect(parseTopics(['stats', 'job:12', 'queue:a,b:c/d%', `pipeline:${uuid.toUpperCase()}`])).toEqual([
      { kind: 'stats', of: '', name: 'stats' },
      { kind: 'job', of: '12', name: 'job:12' },
      { kind: 'queue', of: 'a,b:c/d%', name: 'queue:a,b:c/d%' },
      { kind: 'pipeline', of: uuid, name: `pipeline:${uuid}` },
    ])
  })

  test('takes a topic that is asked for twice once', () => {
    expect(parseTopics(['stats', 'stats'])).toHaveLength(1)
  })

  test.each([['toString:1'], ['job:x'], ['job:0'], ['queue:'], ['queue:a\nb'], ['pipeline:7'], ['stats:1'], ['']])(
    'refuses %j',
    (name) => {
      expect(() => parseTopics([name])).toThrow()
    },
  )

  test('refuses none and more than fifty', () => {
    expect(() => parseTopics([])).toThrow(/1 to 50/)
    expect(() => parseTopics(Array.from({ length: 51 }, (_, i) => `job:${i + 1}`))).toThrow(/1 to 50/)
  })
})
