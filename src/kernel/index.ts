// What TypeScript calls. Compiled to WebAssembly by AssemblyScript: nothing here has to warm up, and integers have 64 bits.
export { compareCandles, comparedCandles, groupCandles, oddCandles } from './audit'
export { addCandles, beginCandle, readCandles } from './candles'
export { indexRows } from './row-index'
export { writeRows } from './rows'
