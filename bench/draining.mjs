// Draining a filled queue, which several parts measure under different conditions. The command orders each process to prepare,
// warm up, fill, stage, go and watch; the time is from "go" until every handler has run and every outcome is written down.
import { now, pause, until } from './clock.mjs'
import { cpuMs } from './cpu.mjs'

// For each process a fifth of what one drains: most of its code is compiled by then.
const WARM_UP_SHARE = 0.2
// The drain starts a new worker, and V8 compiles some code again for its objects. So each half of the warm-up starts a worker too.
const WARM_UP_STARTS = 2
const LEAST_JOBS = 2000
const BULK = 1000
// Where the cores are full, measuring takes CPU time from the drain.
const TELL_MS = 20
const LOOK_MS = 4

/**
 * Jobs per second of one drain, and the CPU time per job of the store and of the workers together.
 * @param {object} bench
 * @param {import('./systems.mjs').System} system
 * @param {{ part: string, jobs: number, processes?: number, params?: object, isStanding?: boolean,
 *   condition?: (store: object) => Promise<() => Promise<void>> }} options
 *   `isStanding`: the workers are up before, and the time is from the moment when their queue is opened to them;
 *   `condition` sets something up between filling and going; what it returns takes it back
 */
export async function drainOnce(
  bench,
  system,
  { part, jobs, processes = 1, params = {}, isStanding = false, condition },
) {
  const shareOf = (n) => Math.max(LEAST_JOBS, Math.round(n * (system.share ?? 1)))
  const share = shareOf(jobs)
  const warmUp = shareOf(bench.drained * WARM_UP_SHARE)
  const store = await bench.stores.fresh(system.store)
  const start = () => bench.start(part, system, { ...params, jobs: share, warmUp, isStanding }, store.url)
  const first = start()
  await obey(first, 'prepare')
  const all = [first, ...Array.from({ length: processes - 1 }, start)]
  for (const each of all.slice(1)) await obey(each, 'prepare')
  if (isStanding) await standUp(all, warmUp)
  else for (const each of all) await obey(each, 'warm')
  await obey(first, 'fill')
  await store.settleDown()
  await obey(first, 'stage')
  const undo = await condition?.(store)

  const pids = [store.pid, ...all.map((each) => each.pid)]
  const cpuBefore = cpuMs(pids)
  bench.disturbance.begin()
  const startedAt = now()
  for (const each of all) each.say('go')
  await untilHandled(all, share)
  first.say('watch')
  const { at, history } = await first.hear('drained')
  const cpu = cpuMs(pids) - cpuBefore
  bench.disturbance.end()

  for (const each of all) each.say('end')
  await Promise.all(all.map((each) => each.ended()))
  const surplus = all.flatMap((each) => each.takeAll('handled')).length
  if (surplus > 0) throw new Error(`${system.name} ran more handlers than there were jobs`)
  const finished = share + processes * warmUp
  if (history !== undefined && history !== finished) {
    throw new Error(`${system.name} kept ${history} finished jobs of ${finished}`)
  }
  await undo?.()
  await store.close()
  return { rate: (share / (at - startedAt)) * 1000, cpuPerJob: (cpu * 1000) / share }
}

/** Starts all workers and warms them up together, with as many jobs for each as the others have; then shuts their queue. */
async function standUp(all, warmUp) {
  for (const each of all) await obey(each, 'stand')
  for (const _ of all) await obey(all[0], 'load')
  await untilHandled(all, all.length * warmUp)
  await obey(all[0], 'shut')
  for (const each of all) await obey(each, 'forget')
}

async function obey(process, order) {
  process.say(order)
  await process.hear(order)
}

async function untilHandled(all, jobs) {
  let handled = 0
  await until(() => {
    for (const each of all) {
      each.failIfEnded()
      for (const { n } of each.takeAll('handled')) handled += n
    }
    return handled >= jobs
  }, LOOK_MS)
  if (handled > jobs) throw new Error(`${handled} handlers ran for ${jobs} jobs`)
}

/** The process's side; `beforeGo` comes after all that is left to settle down. */
export async function drainInside(
  { system, line, params },
  { beforeFill = async () => {}, beforeGo = async () => {} } = {},
) {
  let handled = 0
  let told = 0
  let telling
  const tell = () => {
    if (handled > told) line.tell('handled', { n: handled - told })
    told = handled
  }
  // The same one for the warm-up: a system's compiled code may have taken the handler's into itself.
  let goal = 0
  let reached = () => {}
  const handler = async () => {
    handled += 1
    if (handled === goal) reached()
  }
  const enqueue = async (n) => {
    for (let i = 0; i < n; i += BULK) {
      await system.enqueueMany(Array.from({ length: Math.min(BULK, n - i) }, (_, k) => ({ id: i + k })))
    }
  }
  const operations = {
    prepare: () => system.prepare(),
    async warm() {
      for (let start = 1; start <= WARM_UP_STARTS; start += 1) {
        goal = Math.round((params.warmUp * start) / WARM_UP_STARTS)
        await enqueue(goal - handled)
        const worker = await system.work(handler)
        await until(() => handled === goal)
        await until(() => system.isSettled())
        await worker.stop()
      }
      handled = 0
      goal = params.jobs
      reached = tell
    },
    async stand() {
      await system.work(handler)
      telling = setInterval(tell, TELL_MS)
    },
    load: () => enqueue(params.warmUp),
    async shut() {
      await until(() => system.isSettled())
      await system.shutQueue()
    },
    async forget() {
      clearInterval(telling)
      tell()
      handled = 0
      told = 0
      goal = params.jobs
      reached = tell
    },
    async fill() {
      await beforeFill()
      await enqueue(params.jobs)
    },
    stage: () => beforeGo(),
  }
  for (let order = await line.order(); order !== 'go'; order = await line.order()) {
    if (!operations[order]) throw new Error(`this checkout does not know the order "${order}"`)
    await operations[order]()
    line.tell(order)
  }
  return drain()

  async function drain() {
    await (params.isStanding ? system.openQueue() : system.work(handler))
    telling = setInterval(tell, TELL_MS)
    for (let order = await line.order(); order !== 'end'; order = await line.order()) {
      await until(() => system.isSettled())
      const at = now()
      // Whatever would run a job twice gets a moment to do so.
      await pause(50)
      tell()
      line.tell('drained', { at, history: await system.countHistory?.() })
    }
    clearInterval(telling)
  }
}
