import { runTasks } from '../engine/threads.js'
import { Mirror } from '../mirror/mirror.js'
import type { SeriesTask } from './series-reader.js'
import type { WorkerScope } from './verify.js'
import { SymbolVerifier } from './verify-symbol.js'

// The code of a worker of `verifyKlines`: each task is a symbol.
runTasks(({ root, ...scope }: WorkerScope) => {
  const verifier = new SymbolVerifier(new Mirror(root), scope)
  return (symbol: readonly SeriesTask[]) => verifier.verify(symbol)
})
