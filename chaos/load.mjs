// A steady load: keeps a backlog in the queue, repeats what was not acknowledged, and knows every job that was.
import { randomUUID } from 'node:crypto'
import { pause } from './waiting.mjs'

const EVERY_MS = 100

/** `mix` lists { type, input, share }; shares add up to 1. */
export function startLoad({ client, ask, acknowledged }, { mix, backlog = 400 }) {
  let isOver = false
  const outages = { count: 0 }

  const enqueueOf = async ({ type, input, share }, n) => {
    const inputs = Array.from({ length: Math.ceil(n * share) }, () => ({ ...input }))
    const ids = inputs.map(() => randomUUID())
    // The same ids again: whatever a broken connection hid, each of them makes one job.
    for (;;) {
      try {
        const handles = await client.enqueueMany(type, inputs, { dedupeId: (_, index) => ids[index] })
        for (const { id } of handles) acknowledged.add(id)
        return
      } catch {
        outages.count += 1
        await pause(EVERY_MS)
      }
    }
  }

  const going = (async () => {
    while (!isOver) {
      const pending = await countPending(ask)
      // A producer goes on while the database is away.
      const n = backlog - (pending ?? backlog - 10)
      if (n > 0) await Promise.all(mix.map((part) => enqueueOf(part, n)))
      await pause(EVERY_MS)
    }
  })()

  return {
    outages,
    async stop() {
      isOver = true
      await going
    },
  }
}

async function countPending(ask) {
  try {
    return (await ask('select count(*)::int as n from holdfast.ready'))[0].n
  } catch {
    return undefined
  }
}

/** Jobs completed in the last `ms`, by the database's clock. */
export async function completedWithin(ask, ms) {
  const [{ n }] = await ask(
    `select count(*)::int as n from holdfast.outcome as o
      where o.state = 'completed' and o.finished_at > clock_timestamp() - $1 * interval '1 millisecond'`,
    [ms],
  )
  return n
}

/** How many workers completed jobs in the last `ms`. */
export async function workersWithin(ask, ms) {
  const [{ n }] = await ask(
    `select count(distinct o.locked_by)::int as n from holdfast.outcome as o
      where o.state = 'completed' and o.finished_at > clock_timestamp() - $1 * interval '1 millisecond'`,
    [ms],
  )
  return n
}
