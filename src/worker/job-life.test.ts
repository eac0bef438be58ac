import { expect, test, vi } from 'vitest'
import { HoldfastError } from '../domain/error/errors.js'
import { EventHub } from '../observe/events.js'
import { SILENT } from '../observe/log.js'
import type { Store } from '../store/store.js'
import { JobLife, type JobLifeParts } from './job-life.js'
import { Registry } from './registry.js'

/** A store that finds all that it is asked for. */
function storeThatFindsAll() {
  const asked: unknown[][] = []
  const prepared = async (_text: string, values: unknown[]) => {
    asked.push(values)
    return { rows: [{ found: values[1] }] }
  }
  return { asked, store: { schema: 'holdfast', open: async () => ({ prepared }) } as unknown as Store }
}

test('the jobs of a claim without an answer are released, and the worker polls for them', async () => {
  const { asked, store } = storeThatFindsAll()
  const onReleased = vi.fn()
  const parts = {
    store,
    worker: 'w',
    events: new EventHub(),
    log: SILENT,
    onReleased,
    registry: new Registry([]),
  } as unknown as JobLifeParts
  const leaseIds: string[] = []

  const lost = new JobLife(parts).claims.claim((leaseId) => {
    leaseIds.push(leaseId)
    return Promise.reject(new HoldfastError('CONNECTION_FAILED', 'read ECONNRESET'))
  })

  await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  await vi.waitFor(() => expect(onReleased).toHaveBeenCalledOnce())
  expect(asked).toEqual([['w', leaseIds]])
})
