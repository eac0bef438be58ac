// The isolates themselves, with the built code: threads and processes load JavaScript only.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ClaimedJob } from '../../../domain/job/job.js'
import type { FromIsolate, IsolateTask } from './messages.js'
import { openProcess } from './open-process.js'
import { openThread } from './open-thread.js'

const PACKAGE = new URL('../../../../dist/index.js', import.meta.url).href
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-isolate-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A task whose handler has this body. */
async function task(body: string): Promise<IsolateTask> {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.mjs`)
  await writeFile(
    file,
    `import { spawn } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    import { parentPort } from 'node:worker_threads'
    import { defineJob } from '${PACKAGE}'
    export const job = defineJob({ type: 't', isolate: 'process', module: import.meta.url, async run(file) { ${body} } })`,
  )
  const job = { id: '1', type: 't', queue: 'default', input: `${file}.pid`, attempts: 1, maxAttempts: 1 }
  const module = pathToFileURL(file).href
  return { job: job as unknown as ClaimedJob, type: 't', module, database: undefined, schema: 'holdfast' }
}

function listener() {
  const messages: FromIsolate[] = []
  const faults: unknown[] = []
  return {
    messages,
    faults,
    onMessage: (message: FromIsolate) => void messages.push(message),
    onFault: (doing: string, error: unknown) => void faults.push([doing, error]),
  }
}

const GRANDCHILD = `
  const child = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'inherit'] })
  writeFileSync(file, String(child.pid))`

async function hasEnded(file: unknown): Promise<boolean> {
  const pid = await readFile(String(file), 'utf8')
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return state === undefined || state.split(') ')[1]?.startsWith('Z') === true
}

test('a process that is ended takes along what it has started, also what holds its standard error', async () => {
  const { onMessage, messages } = listener()
  const hanging = await task(`${GRANDCHILD}; console.error('last words'); process.send('begun'); for (;;);`)
  const isolate = openProcess(hanging, 256, onMessage)
  await expect.poll(() => readFile(String(hanging.job.input), 'utf8').catch(() => ''), { timeout: 10_000 }).not.toBe('')
  const began = performance.now()

  isolate.kill()

  expect(await isolate.ended).toMatchObject({ what: 'ended with signal SIGKILL', lastLines: 'last words\n' })
  expect(performance.now() - began).toBeLessThan(2000)
  await expect.poll(() => hasEnded(hanging.job.input), { timeout: 5000 }).toBe(true)
  expect(messages).toEqual([])
}, 20_000)

test('a run in a process ends with its handler, whatever the handler leaves running', async () => {
  const { onMessage, messages } = listener()
  const leaving = await task(`${GRANDCHILD}; return 'done'`)
  const began = performance.now()

  await openProcess(leaving, 256, onMessage).ended

  expect(messages).toEqual([{ kind: 'outcome', outcome: { kind: 'completed', output: '"done"' } }])
  expect(performance.now() - began).toBeLessThan(10_000)
  await expect.poll(() => hasEnded(leaving.job.input), { timeout: 5000 }).toBe(true)
}, 20_000)

test('messages that a handler sends to its parent are not Holdfast’s, whatever they look like', async () => {
  const { onMessage, messages } = listener()
  const sending = await task(`
    for (const each of [null, undefined, 7, 'x', {}, { kind: 'log', level: 'nope' }, { kind: 'outcome' }]) {
      try { process.send(each) } catch {}
    }`)

  await openProcess(sending, 256, onMessage).ended

  expect(messages).toEqual([{ kind: 'outcome', outcome: { kind: 'completed', output: 'null' } }])
}, 20_000)

test('messages that a handler sends from its thread change nothing', async () => {
  const { onMessage, onFault, messages } = listener()
  const sending = await task(`for (const each of [null, 7, {}]) parentPort.postMessage(each)`)

  await openThread(sending, 256, onMessage, onFault).ended

  expect(messages).toEqual([{ kind: 'outcome', outcome: { kind: 'completed', output: 'null' } }])
}, 20_000)

test('threads that cannot start fail the runs that wait for them, and are reported', async () => {
  const { onMessage, onFault, faults } = listener()
  const never = await task('')

  const ends = await Promise.all([1, 2].map(() => openThread(never, 1, onMessage, onFault).ended))

  const what = expect.stringMatching(/^could not be started: .*memory/)
  expect(ends).toEqual([{ what }, { what }])
  expect(faults).toEqual(Array(2).fill(['starting an isolated thread', expect.objectContaining({ name: 'Error' })]))
}, 20_000)
