// Jobs that workers died with come one at a time, and only to those who ask for them.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('claims one quarantined job at a time, the most urgent first, and no other job', async () => {
  const given = givenIn(db.pool)
  await given.pendingJob()
  const later = await quarantine(await given.pendingJob({ priority: 5 }))
  const sooner = await quarantine(await given.pendingJob({ priority: 1 }))

  expect(await claimQuarantined()).toBe(sooner)
  expect(await claimQuarantined()).toBe(later)
  expect(await claimQuarantined()).toBeNull()
})

test('claims no quarantined job of another queue or type, and none that is not due', async () => {
  const given = givenIn(db.pool)
  await quarantine(await given.pendingJob({ queue: 'other' }))
  await quarantine(await given.pendingJob({ type: 'other' }))
  await quarantine(await given.pendingJob({ delay: '1h' }))

  expect(await claimQuarantined()).toBeNull()
})

async function quarantine(id: string): Promise<string> {
  await ask(db.admin, 'update holdfast.ready set crashes = 2 where job_id = $1', [id])
  return id
}

function claimQuarantined() {
  return askValue(db.pool, `select holdfast.claim_quarantined_v1('w', '{default}', '{task}') -> 'id'`)
}
