// The files that a new project starts with.

export interface Starter {
  readonly isTypeScript: boolean
  /** Where the jobs live, without a slash at the end. */
  readonly folder: string
}

/** Path to text, in the order in which a newcomer reads them. */
export function starterFiles({ isTypeScript, folder }: Starter): Record<string, string> {
  const extension = isTypeScript ? 'ts' : 'js'
  const greeted = isTypeScript ? 'input: { name?: string }' : 'input'
  return {
    [`${folder}/hello.${extension}`]: `import { defineJob } from 'holdfast'

// A job has a type, which names it in the database, and a handler. What it returns is kept as its output; what it throws
// makes it run again later.
export const hello = defineJob({
  type: 'hello',
  async run(${greeted}, ctx) {
    ctx.log.info({}, 'saying hello')
    return { greeting: \`Hello, \${input.name ?? 'world'}\` }
  },
})
`,
    [`${folder}/index.${extension}`]: `import { defineSchedule } from 'holdfast'
import { hello } from './hello.js'

// Every job and every schedule of the application.
export const jobs = [hello]
export const schedules = [defineSchedule({ jobKey: 'hello_every_minute', job: hello, every: '1m', input: { name: 'schedule' } })]
`,
    [`holdfast.config.${extension}`]: `import { createHoldfast } from 'holdfast'
import { jobs, schedules } from './${folder}/index.js'

// Import it where you enqueue. Without DATABASE_URL the jobs are kept in .holdfast by an embedded PostgreSQL.
export const holdfast = createHoldfast({ database: process.env.DATABASE_URL, jobs, schedules })
`,
  }
}

export interface Package {
  name?: string
  version?: string
  private?: boolean
  type?: string
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  [more: string]: unknown
}

const SCRIPTS: readonly (readonly [name: string, otherName: string, command: string])[] = [
  ['dev', 'jobs:dev', 'holdfast dev'],
  ['jobs:worker', 'jobs:worker', 'holdfast worker'],
  ['jobs:migrate', 'jobs:migrate', 'holdfast migrate'],
]

/** Adds what is missing and changes nothing that is there. `added` names the scripts that lead to the commands. */
export function withScripts(before: Package): { after: Package; added: Record<string, string> } {
  const scripts = { ...before.scripts }
  const added: Record<string, string> = {}
  for (const [name, otherName, command] of SCRIPTS) {
    const known = Object.entries(scripts).find(([, text]) => text === command)?.[0]
    const free = known ?? (name in scripts ? otherName : name)
    if (!(free in scripts)) {
      scripts[free] = command
      added[free] = command
    }
  }
  return { after: { ...before, scripts }, added }
}
