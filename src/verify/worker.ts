import { parentPort, workerData } from 'node:worker_threads'
import { Mirror } from '../mirror/mirror.js'
import { SymbolVerifier } from './verify-symbol.js'
import { claim, type WorkerReport, type WorkerTask } from './worker-pool.js'

// The code of each thread of a `WorkerPool`.
const { root, symbols, claims, ...scope } = workerData as WorkerTask
const verifier = new SymbolVerifier(new Mirror(root), scope)
for (const [index, windows] of symbols.entries()) {
  if (!claim(claims, index)) continue
  const report: WorkerReport = { index, findings: await verifier.verify(windows) }
  parentPort?.postMessage(report)
}
