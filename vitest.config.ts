// Pure tests beside their files, everything on a real PostgreSQL, the core once more on PGlite, and a part of the core where
// a session keeps less than it does on a server: one capability withheld at a time, and behind PgBouncer.
import { defineConfig } from 'vitest/config'
import { findPgbouncer } from './test/support/pgbouncer.js'

const limits = { testTimeout: 30_000, hookTimeout: 60_000, pool: 'forks' as const }
const onServer = { ...limits, globalSetup: ['test/support/postgres-server.ts'], maxWorkers: 3 }
const LEAN = ['life-cycle', 'keys', 'retries', 'result', 'transaction', 'operators', 'schedules']
const leanTests = [...LEAN.map((name) => `test/core/${name}.test.ts`), 'test/worker/effects.test.ts']

const withheld = ['listen', 'session-locks', 'prepared-statements'].map((capability, index) => ({
  test: {
    ...onServer,
    name: `without-${capability}`,
    include: leanTests,
    env: { HOLDFAST_TEST_ENGINE: 'postgres', HOLDFAST_TEST_WITHOUT: capability },
    sequence: { groupOrder: 3 + index },
  },
}))

const pooled = {
  test: {
    ...onServer,
    name: 'pgbouncer',
    // Schedules are tested on a clock that is set for a session.
    include: [...leanTests.filter((path) => !path.includes('schedules')), 'test/core/http.test.ts'],
    env: { HOLDFAST_TEST_ENGINE: 'postgres', HOLDFAST_TEST_POOLER: 'transaction' },
    sequence: { groupOrder: 6 },
  },
}
const hasPgbouncer = findPgbouncer() !== undefined
if (!hasPgbouncer) console.log('pgbouncer is not installed: the tests behind it are left out')

export default defineConfig({
  test: {
    passWithNoTests: true,
    projects: [
      {
        test: {
          ...limits,
          name: 'unit',
          include: ['src/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...onServer,
          name: 'postgres',
          include: ['test/**/*.test.ts'],
          env: { HOLDFAST_TEST_ENGINE: 'postgres' },
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...limits,
          name: 'pglite',
          include: ['test/core/**/*.test.ts'],
          env: { HOLDFAST_TEST_ENGINE: 'pglite' },
          globalSetup: ['test/support/pglite-image.ts'],
          // Each worker holds whole databases in memory.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      ...withheld,
      ...(hasPgbouncer ? [pooled] : []),
    ],
  },
})
