// A pipeline from one step to several and back to one: `node examples/pipeline/main.mjs`. Without DATABASE_URL the database is
// PGlite, in this process.
import { createHoldfast, defineJob, definePipeline } from 'holdfast'

const fetchRates = defineJob({ type: 'fetch_rates', run: ({ base }) => ({ base, EUR: 0.9, GBP: 0.8, JPY: 150 }) })
const convert = defineJob({ type: 'convert', run: ({ amount, rate, to }) => `${(amount * rate).toFixed(2)} ${to}` })
const summarise = defineJob({ type: 'summarise', run: ({ amount, lines }) => `${amount} USD: ${lines.join(', ')}` })

const quote = definePipeline({
  name: 'quote',
  build(p, { amount, currencies }) {
    const rates = p.job(fetchRates, { base: 'USD' })
    const lines = Object.fromEntries(
      currencies.map((to) => [to, p.job(convert, { rates }, (r) => ({ amount, rate: r.rates[to], to }), { name: to })]),
    )
    return p.job(summarise, lines, (r) => ({ amount, lines: currencies.map((to) => r[to]) }))
  },
})

const holdfast = createHoldfast({
  database: process.env.DATABASE_URL ?? 'memory://',
  jobs: [fetchRates, convert, summarise],
  pipelines: [quote],
})
holdfast.on('job.completed', ({ id, type, ms }) => console.log(`#${id} ${type} completed in ${ms.toFixed(1)} ms`))
await holdfast.start()

const handle = await holdfast.enqueuePipeline(quote, { amount: 10, currencies: ['EUR', 'GBP', 'JPY'] })
console.log(await handle.result({ timeout: '30s' }))
console.log(await handle.progress())
await holdfast.close()
