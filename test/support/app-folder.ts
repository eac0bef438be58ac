// A folder with an application's configuration, as a user of the command line has one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const PACKAGE = new URL('../../dist/index.js', import.meta.url).href

/** `database` is the text of the option in holdfast.config.mjs. Removed after the test. */
export async function appFolder(database = 'undefined', files: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-app-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const config = `
    import { createHoldfast, defineJob, defineSchedule } from '${PACKAGE}'
    const isText = { '~standard': { version: 1, vendor: 'test', validate: (value) =>
      typeof value?.name === 'string' ? { value } : { issues: [{ message: 'name must be a text' }] } } }
    const greet = defineJob({ type: 'greet', input: isText, run: async ({ name }) => ({ greeting: 'Hello, ' + name }) })
    const break_ = defineJob({ type: 'break', retry: { attempts: 1 }, run: async () => { throw new Error('out of luck') } })
    const hourly = defineSchedule({ jobKey: 'hourly', job: greet, cron: '0 * * * *', input: ({ tick }) => ({ name: 'tick' }) })
    export const holdfast = createHoldfast({ database: ${database}, jobs: [greet, break_], schedules: [hourly] })
  `
  for (const [name, text] of Object.entries({ 'holdfast.config.mjs': config, ...files })) {
    await writeFile(join(folder, name), text)
  }
  return folder
}
