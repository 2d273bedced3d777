// The functions that TypeScript calls, compiled to WebAssembly by AssemblyScript: fast from the first call, with 64-bit integers.

export { findAnomalies, findRunsWithoutTrades } from './anomalies'
export { addCandles, beginCandle, readCandles } from './candles'
export { compareCandles, comparedCandles, groupCandles } from './compare'
export { indexRows } from './index-rows'
export { readDecimals, readDoubles, readIntegers } from './read-columns'
export { writeLines } from './write-lines'
export { writeRows } from './write-rows'
