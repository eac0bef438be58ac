// Does the same piece of arithmetic every 50 ms, about a tenth of a millisecond of it, and prints what CPU time it took, in
// microseconds. Six sums that do not wait for one another: they need all of a core, and feel it when another thread shares it.
const EVERY_MS = 50
const STEPS = 60_000
const UNTIL_COMPILED = 3000

let sum = 0
for (let i = 0; i < UNTIL_COMPILED; i += 1) sum = piece(sum)
setInterval(() => {
  const before = process.cpuUsage()
  sum = piece(sum)
  const { user, system } = process.cpuUsage(before)
  process.stdout.write(`${user + system}\n`)
}, EVERY_MS)
// It ends with the command that started it.
process.stdin.on('end', () => process.exit()).resume()

function piece(start) {
  let [a, b, c, d, e, f] = [start, 2, 3, 4, 5, 6]
  for (let i = 0; i < STEPS; i += 1) {
    a = (a + ((a << 5) ^ i)) | 0
    b = (b + ((b << 5) ^ i)) | 0
    c = (c + ((c << 5) ^ i)) | 0
    d = (d + ((d << 5) ^ i)) | 0
    e = (e + ((e << 5) ^ i)) | 0
    f = (f + ((f << 5) ^ i)) | 0
  }
  return a ^ b ^ c ^ d ^ e ^ f
}
