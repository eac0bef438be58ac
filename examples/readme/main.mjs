// The code of README.md, runnable: `node examples/readme/main.mjs`.

// README begins
import { createHoldfast, defineJob } from 'holdfast'
import { z } from 'zod'

const sendWelcome = defineJob({
  type: 'send_welcome',
  input: z.object({ to: z.email() }),
  retry: { attempts: 5, base: '2s', max: '1h' },
  run: async ({ to }, ctx) => ({ sent: to, attempt: ctx.job.attempts }),
})

const holdfast = createHoldfast({ database: process.env.DATABASE_URL ?? 'memory://', jobs: [sendWelcome] })
await holdfast.start()
const job = await holdfast.enqueue(sendWelcome, { to: 'ada@example.org' })
console.log(await job.result({ timeout: '30s' })) // { sent: 'ada@example.org', attempt: 1 }
await holdfast.close()
// README ends
