// Jobs that workers died with come one at a time, and only to those who ask for them.
import { expect, test } from 'vitest'
import { ask, askValue } from '../../support/ask.js'
import { givenIn } from '../../support/given.js'
import { useDatabase } from '../../support/use-database.js'

const db = useDatabase()

test('gives one suspect at a time, most urgent first, and none that is not one', async () => {
  const given = givenIn(db.pool)
  await given.pendingJob()
  const later = await suspect(await given.pendingJob({ priority: 5 }))
  const sooner = await suspect(await given.pendingJob({ priority: 1 }))

  expect(await claimQuarantined()).toBe(sooner)
  expect(await claimQuarantined()).toBe(later)
  expect(await claimQuarantined()).toBeNull()
})

test('gives no suspect of another queue or type, and none that is not due', async () => {
  const given = givenIn(db.pool)
  await suspect(await given.pendingJob({ queue: 'other' }))
  await suspect(await given.pendingJob({ type: 'other' }))
  await suspect(await given.pendingJob({ delay: '1h' }))

  expect(await claimQuarantined()).toBeNull()
})

async function suspect(id: string): Promise<string> {
  await ask(db.admin, 'update holdfast.ready set crashes = 2 where job_id = $1', [id])
  return id
}

function claimQuarantined() {
  return askValue(db.pool, `select holdfast.claim_quarantined_v1('w', '{default}', '{task}') -> 'id'`)
}
