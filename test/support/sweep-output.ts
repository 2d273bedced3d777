import { recoverTargets } from '../../src/export/output/leftovers.js'

/** Removes the temp files that killed runs left beside an output. */
await recoverTargets([process.argv[2]])
console.log('swept')
