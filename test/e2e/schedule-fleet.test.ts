// Five worker processes serve one schedule, and the one that fires a tick is killed: each tick still makes one job.
import { expect, test } from 'vitest'
import { openFleet } from '../../chaos/fleet.mjs'
import { fireAndKill, shareClock } from '../../chaos/schedule-ticks.mjs'
import { ask } from '../support/ask.js'
import { useDatabase } from '../support/use-database.js'

const db = useDatabase()
// npm run chaos -- schedules does the same for 500 ticks.
const TICKS = 12

test('no tick is missed or doubled when its worker dies of it', async () => {
  const fleet = openFleet(db.whole.url)
  try {
    const asOwner = (text: string, values: unknown[] = []) => ask(db.admin, text, values)
    await shareClock(asOwner)

    const counted = await fireAndKill({ fleet, ask: asOwner }, TICKS)

    expect(counted).toEqual({ killed: TICKS, jobs: TICKS, doubled: 0, missing: 0 })
  } finally {
    await fleet.endAll()
  }
})
