// snapshot: Holdfast drains while somebody holds an old snapshot, so that no dead row can be removed; beside its plain drain.
import pg from 'pg'
import { drainInside, drainOnce } from '../draining.mjs'
import { holdfast } from '../systems/holdfast.mjs'

export const measures = {
  snapshot: { unit: 'jobs/s', better: 'higher', says: 'drained while a REPEATABLE READ transaction is open' },
}

const PLAIN = 'holdfast, no snapshot held'
export const systems = ['holdfast', PLAIN]
export const own = { [PLAIN]: { ...holdfast, name: PLAIN } }

export async function measure(bench, system) {
  const condition = system.name === PLAIN ? undefined : holdSnapshot
  const options = { part: 'snapshot', jobs: bench.drained, condition }
  const { rate } = await drainOnce(bench, { ...system, name: 'holdfast' }, options)
  return { snapshot: rate }
}

export const inside = drainInside

async function holdSnapshot(store) {
  const client = new pg.Client(store.url)
  await client.connect()
  await client.query('begin isolation level repeatable read')
  // Any statement takes the snapshot.
  await client.query('select')
  return () => client.end()
}
