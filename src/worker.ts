import { encodeInWorker } from './engine/encode.js'
import { runTasks } from './engine/threads.js'
import { exportInWorker } from './server/export-files.js'
import { verifyInWorker } from './verify/verify-symbol.js'

// The code of a worker thread: exports and lakes write temp files, which the main thread puts in their places; `verify` checks symbols;
// a server has whole exports written.
runTasks({ encode: encodeInWorker, verify: verifyInWorker, export: exportInWorker })
