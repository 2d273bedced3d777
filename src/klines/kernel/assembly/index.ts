// What TypeScript calls. Compiled to WebAssembly by AssemblyScript: nothing here has to warm up, and integers have 64 bits.

export { addCandles, beginCandle, readCandles } from './candles'
export { compareCandles, comparedCandles, groupCandles, oddCandles } from './compare'
export { indexRows } from './index-rows'
export { readDecimals } from './read-decimals'
export { writeRows } from './write-rows'
