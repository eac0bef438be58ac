// One system in a process of its own: node system-process.mjs <part> <system> <params>. The store's address is in STORE_URL.
// It obeys orders, one word a line on standard input, and tells facts, one JSON object a line on standard output; it ends when
// it has done its part, and at once when its standard input ends, because then nobody is there to listen.
import { createInterface } from 'node:readline'
import { systemNamed } from './systems.mjs'

const [part, name, params] = process.argv.slice(2)

const orders = []
let orderWanted
createInterface({ input: process.stdin })
  .on('line', (order) => {
    orders.push(order)
    orderWanted?.()
  })
  .on('close', () => process.exit(0))

const line = {
  tell: (fact, values = {}) => process.stdout.write(`${JSON.stringify({ fact, ...values })}\n`),
  async order() {
    while (orders.length === 0) {
      await new Promise((resolve) => {
        orderWanted = resolve
      })
    }
    return orders.shift()
  },
}

const { inside } = await import(`./parts/${part}.mjs`)
const system = await systemNamed(name).open(process.env.STORE_URL)
await inside({ system, line, params: JSON.parse(params) })
// Its store goes with the run: there is nothing that would be worth closing.
process.stdout.write('', () => process.exit(0))
