// Compiled to WebAssembly by AssemblyScript: fast from the first call, with 64-bit integers.

export { addCandles, beginCandle, groupCandles, readCandles } from './candles'
export { countEqual, findFaults, findOdd } from './check-candles'
export { indexRows } from './index-rows'
export { readDecimals, readDoubles, readIntegers } from './read-columns'
export { writeRows } from './write-rows'
