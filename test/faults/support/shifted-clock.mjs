// Preload: shifts this process's clock by KLINES_TEST_SHIFT ms; by KLINES_TEST_JUMP ms more at every other reading.
const { now } = Date
const shift = Number(process.env.KLINES_TEST_SHIFT ?? 0)
const jump = Number(process.env.KLINES_TEST_JUMP ?? 0)
let readings = 0
Date.now = () => now() + shift + (readings++ % 2 === 0 ? 0 : jump)
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => (args.length === 0 ? new target(target.now()) : new target(...args)),
})
