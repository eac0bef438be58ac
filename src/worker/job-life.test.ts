import { expect, test, vi } from 'vitest'
import { HoldfastError } from '../domain/error/errors.js'
import { EventHub } from '../observe/events.js'
import { SILENT } from '../observe/log.js'
import type { Store } from '../store/store.js'
import { JobRuns, type JobRunsParts } from './job-life.js'

/** Whatever it is asked, it has found all that was looked for. */
function foundAll() {
  const asked: unknown[][] = []
  const prepared = async (_text: string, values: unknown[]) => {
    asked.push(values)
    return { rows: [{ found: values[1] }] }
  }
  return { asked, store: { schema: 'holdfast', open: async () => ({ prepared }) } as unknown as Store }
}

test('what a claim without an answer took is given back, and looked for as new work', async () => {
  const { asked, store } = foundAll()
  const wake = vi.fn()
  const parts = { store, worker: 'w', events: new EventHub(), log: SILENT, wake } as unknown as JobRunsParts
  const leaseIds: string[] = []

  const lost = new JobRuns(parts).claim((leaseId) => {
    leaseIds.push(leaseId)
    return Promise.reject(new HoldfastError('CONNECTION_FAILED', 'read ECONNRESET'))
  })

  await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  await vi.waitFor(() => expect(wake).toHaveBeenCalledOnce())
  expect(asked).toEqual([['w', leaseIds]])
})
