import { parentPort, workerData } from 'node:worker_threads'
import { Mirror } from './mirror.js'
import { SymbolVerifier } from './verify-symbol.js'
import { claim, type ThreadData, type ThreadReport } from './verify-threads.js'

// What each of the `VerifyThreads` runs.
const { root, symbols, audit, claims } = workerData as ThreadData
const verifier = new SymbolVerifier(new Mirror(root), audit)
for (const [index, windows] of symbols.entries()) {
  if (!claim(claims, index)) continue
  const report: ThreadReport = { index, findings: await verifier.verify(windows) }
  parentPort?.postMessage(report)
}
