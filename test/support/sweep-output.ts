import { sweepTemps } from '../../src/export/output/temp.js'

/** Sweeps what killed runs left beside an output. */
await sweepTemps(process.argv[2])
console.log('swept')
