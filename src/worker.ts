import { encodeInWorker } from './engine/encode.js'
import { runTasks } from './engine/threads.js'
import { verifyInWorker } from './verify/verify-symbol.js'

// The code of a worker thread: exports and lakes write temp files, which the main thread puts in their places; `verify` checks symbols.
runTasks({ encode: encodeInWorker, verify: verifyInWorker })
