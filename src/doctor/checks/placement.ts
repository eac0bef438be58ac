// Are jobs still well placed inside the service, or is it time for workers of their own? Four statistics decide.

import { recentWork, type WorkerDetails, workerDetails } from '../../store/reads/workers.js'
import type { Check } from '../check.js'
import { type CheckResult, ok, warn } from '../finding.js'
import type { Limits } from '../thresholds.js'
import { LIVING_MS } from './worker-versions.js'

const WINDOW_MS = 300_000
const MOVE = 'run them in processes of their own: `npx holdfast worker`, with the same file and the same handlers'

export const placement: Check = {
  name: 'placement',
  needs: 'schema',
  async examine({ store, limits }) {
    const living = (await workerDetails(store)).filter(({ heartbeatAgeMs }) => heartbeatAgeMs < LIVING_MS)
    const inside = living.filter(({ isAlone }) => !isAlone)
    const recent = await recentWork(store, WINDOW_MS)
    const perMinute = (recent.jobs * 60_000) / WINDOW_MS
    const results = [
      ...inside.flatMap((worker) => slowLoop(worker, limits)),
      ...living.flatMap((worker) => muchMemory(worker, limits)),
      ...(inside.length > 0 && perMinute > limits.jobsPerMinute
        ? [warn(`${perMinuteText(recent)} jobs a minute run inside a service, more than ${limits.jobsPerMinute}`, MOVE)]
        : []),
      ...slowChains(recent.chainWaitP95Ms, limits),
    ]
    if (results.length > 0) return results
    const where =
      living.length === 0
        ? 'no worker is running'
        : `${inside.length} of ${living.length} workers share a service’s process`
    return [ok(`${where}; ${perMinuteText(recent)} jobs a minute`)]
  },
}

function slowLoop({ id, loopDelayMs }: WorkerDetails, limits: Limits): CheckResult[] {
  if (loopDelayMs === null || loopDelayMs <= limits.loopDelayMs) return []
  const text = `the event loop of ${id} is late by ${Math.round(loopDelayMs)} ms (99th percentile): every request of that service waits as long`
  return [warn(text, MOVE)]
}

function muchMemory({ id, rssBytes, isAlone }: WorkerDetails, limits: Limits): CheckResult[] {
  const mb = Math.round((rssBytes ?? 0) / 2 ** 20)
  if (mb <= limits.memoryMb) return []
  const fix = isAlone
    ? 'lower its concurrency, or isolate its heavy jobs: `isolate: "process"` with a memory cap'
    : MOVE
  return [warn(`${id} uses ${mb} MB of memory, more than ${limits.memoryMb}`, fix)]
}

function slowChains(p95Ms: number | null, limits: Limits): CheckResult[] {
  if (p95Ms === null || p95Ms <= limits.chainMs) return []
  const text = `steps of pipelines wait ${Math.round(p95Ms)} ms from due to claimed (95th percentile)`
  return [warn(text, 'give their queue more workers or slots; behind a pooler, the address of the server itself')]
}

function perMinuteText({ jobs, isCapped }: { jobs: number; isCapped: boolean }): string {
  const perMinute = (jobs * 60_000) / WINDOW_MS
  return `${isCapped ? 'more than ' : ''}${perMinute < 10 ? Number(perMinute.toFixed(1)) : Math.round(perMinute)}`
}
