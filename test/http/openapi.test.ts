// The contract as a document: the checked-in copy is what is served, and a linter of others has nothing against it.
import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { useHoldfast } from '../support/holdfast.js'
import { useDesk } from '../support/http.js'

const bench = useHoldfast()
const openDesk = useDesk()

async function served() {
  return (await openDesk(bench.open({ jobs: [] })).as({ permissions: [] })('GET /openapi.json')).body
}

describe('the OpenAPI document', () => {
  test('is the one in docs/reference (after a change: npm run docs)', async () => {
    const kept = await readFile('docs/reference/openapi.json', 'utf8')

    expect(JSON.parse(kept)).toEqual(await served())
  })

  test('passes a linter without errors', async () => {
    const config = await createConfig({ extends: ['recommended'] })

    const problems = await lintFromString({ source: JSON.stringify(await served()), config })

    expect(problems.map(({ severity, ruleId, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([])
  })

  test('names every address with a unique operation and says how it refuses', async () => {
    const { paths } = await served()
    const operations = Object.values<Record<string, { operationId: string; responses: object }>>(paths).flatMap(
      Object.values,
    )

    expect(operations.length).toBeGreaterThan(35)
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    for (const { responses } of operations)
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403']))
  })
})
