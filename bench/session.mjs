// What every run of the benchmark needs: stores, a gauge of disturbance, and an end that takes everything back.
import { Disturbance } from './disturbance.mjs'
import { endAllProcesses, startIn, THIS_CHECKOUT } from './processes.mjs'
import { openStores } from './stores.mjs'

/**
 * Runs `work` and then ends all processes and removes all data, also when it fails or is interrupted.
 * @param {import('./arguments.mjs').Wanted} wanted
 * @param {string} node runs the systems
 * @param {(bench: object, atEnd: (undo: () => Promise<void>) => void) => Promise<void>} work
 * @returns {Promise<number>} the exit code
 */
export async function inSession({ quick, drained }, node, work) {
  const undos = []
  let closing
  const close = () => {
    closing ??= (async () => {
      await endAllProcesses()
      for (const undo of undos.toReversed()) await undo().catch(console.error)
    })()
    return closing
  }
  let isInterrupted = false
  const stop = () => {
    isInterrupted = true
    void close().then(() => process.exit(130))
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)

  try {
    const stores = await openStores()
    undos.push(() => stores.close())
    const disturbance = new Disturbance()
    undos.push(async () => disturbance.close())
    const bench = {
      stores,
      disturbance,
      quick,
      drained,
      size: (full, small) => (quick ? small : full),
      start: startIn(node, THIS_CHECKOUT),
    }
    await work(bench, (undo) => undos.push(undo))
    return 0
  } catch (error) {
    if (!isInterrupted) console.error(error)
    return 1
  } finally {
    await close()
  }
}
