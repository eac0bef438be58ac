// What `holdfast worker --config chaos/app.mjs` runs: the jobs of the scenarios, with a grace that some of them outlive.
import { createHoldfast } from 'holdfast'
import { chaosJobs } from './jobs.mjs'

export const holdfast = createHoldfast({
  database: process.env.DATABASE_URL,
  jobs: chaosJobs(),
  concurrency: 20,
  grace: process.env.CHAOS_GRACE ?? '1s',
})

// The parent process holds the standard input of this process; when the input ends, so does this process.
process.stdin.resume().on('end', () => process.exit(3))
process.stdin.unref?.()
