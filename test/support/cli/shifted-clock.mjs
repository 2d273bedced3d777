// Preload: this process starts at KLINES_TEST_NOW, ms UTC (default: the present); every other
// reading of its clock by KLINES_TEST_JUMP ms more.
const { now } = Date
const start = Number(process.env.KLINES_TEST_NOW ?? now())
const shift = start - now()
const jump = Number(process.env.KLINES_TEST_JUMP ?? 0)
let readings = 0
Date.now = () => now() + shift + (readings++ % 2 === 0 ? 0 : jump)
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => (args.length === 0 ? new target(target.now()) : new target(...args)),
})
