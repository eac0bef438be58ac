// Three projects: pure tests beside their files, everything on a real PostgreSQL, and the core once more on PGlite.
import { defineConfig } from 'vitest/config'

const limits = { testTimeout: 30_000, hookTimeout: 60_000, pool: 'forks' as const }

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
          ...limits,
          name: 'postgres',
          include: ['test/**/*.test.ts'],
          env: { HOLDFAST_TEST_ENGINE: 'postgres' },
          globalSetup: ['test/support/postgres-server.ts'],
          maxWorkers: 3,
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
    ],
  },
})
