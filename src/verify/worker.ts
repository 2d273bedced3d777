import { Mirror } from '../mirror/mirror.js'
import { runTasks } from '../threads/tasks.js'
import type { SeriesWindows } from './series-reader.js'
import type { WorkerScope } from './verify.js'
import { SymbolVerifier } from './verify-symbol.js'

// The code of a worker of `verifySeries`: each task is a symbol.
void runTasks(({ root, ...scope }: WorkerScope) => {
  const verifier = new SymbolVerifier(new Mirror(root), scope)
  return (symbol: readonly SeriesWindows[]) => verifier.verify(symbol)
})
