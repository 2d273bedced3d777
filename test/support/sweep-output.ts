import { removeLeftovers } from '../../src/engine/output/temp.js'

/** Removes the temp files that killed runs left beside an output. */
await removeLeftovers([process.argv[2]])
console.log('swept')
