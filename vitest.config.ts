// Pure tests beside their files, everything on a real PostgreSQL, the core once more on PGlite, and a part of the core where
// a session keeps less than it does on a server: with every such capability withheld, and behind PgBouncer.
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongFirst } from './test/support/long-first.js'
import { findPgbouncer } from './test/support/pgbouncer.js'

// Many tests wait for processes, so there is room for one more than there are cores. The limits of time are there to end a
// hang: nothing that works comes near them, however slow the machine is. A worker goes on with the next file instead of
// loading everything again: a file has a database of its own, and leaves nothing behind in the process.
const common = {
  isolate: false,
  testTimeout: 180_000,
  hookTimeout: 180_000,
  pool: 'forks' as const,
  maxWorkers: Math.min(availableParallelism() + 1, 6),
}
const onServer = { ...common, globalSetup: ['test/support/postgres-server.ts'] }
const LEAN = ['life-cycle', 'keys', 'retries', 'result', 'transaction', 'operators', 'schedules']
const leanTests = [...LEAN.map((name) => `test/core/${name}.test.ts`), 'test/worker/effects.test.ts']

const withheld = {
  test: {
    ...onServer,
    name: 'withheld',
    include: leanTests,
    env: { HOLDFAST_TEST_ENGINE: 'postgres', HOLDFAST_TEST_WITHOUT: 'listen,session-locks,prepared-statements' },
  },
}

const pooled = {
  test: {
    ...onServer,
    name: 'pgbouncer',
    // Schedules are tested on a clock that is set for a session.
    include: [...leanTests.filter((path) => !path.includes('schedules')), 'test/core/http.test.ts'],
    env: { HOLDFAST_TEST_ENGINE: 'postgres', HOLDFAST_TEST_POOLER: 'transaction' },
  },
}
const hasPgbouncer = findPgbouncer() !== undefined
if (!hasPgbouncer) console.log('pgbouncer is not installed: the tests behind it are left out')

export default defineConfig({
  test: {
    passWithNoTests: true,
    sequence: { sequencer: LongFirst },
    projects: [
      { test: { ...common, name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        test: {
          ...onServer,
          name: 'postgres',
          include: ['test/**/*.test.ts'],
          env: { HOLDFAST_TEST_ENGINE: 'postgres' },
        },
      },
      {
        test: {
          ...common,
          name: 'pglite',
          include: ['test/core/**/*.test.ts'],
          env: { HOLDFAST_TEST_ENGINE: 'pglite' },
          globalSetup: ['test/support/pglite-image.ts'],
        },
      },
      withheld,
      ...(hasPgbouncer ? [pooled] : []),
    ],
  },
})
