import { Mirror } from '../mirror/mirror.js'
import { runTasks } from '../threads/tasks.js'
import type { VerifyTask } from './verify.js'
import { type SymbolFindings, SymbolVerifier } from './verify-symbol.js'

// The code of a worker of `verifySeries`: each task is a symbol.
void runTasks<VerifyTask, SymbolFindings>(({ root, symbols, ...scope }) => {
  const verifier = new SymbolVerifier(new Mirror(root), scope)
  return index => verifier.verify(symbols[index])
})
