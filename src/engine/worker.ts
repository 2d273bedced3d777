import { Mirror } from '../mirror/mirror.js'
import { type EncodeScope, type EncodeTask, encodeAlone } from './encode.js'
import { runTasks } from './threads.js'

// The code of a worker of exports and lakes. It writes temp files; the main thread puts them in their places.
runTasks(({ root, encoding, plan }: EncodeScope) => {
  // The main thread has read the mirror before, and has warned about it.
  const run = { mirror: new Mirror(root), signal: new AbortController().signal }
  return (task: EncodeTask) => encodeAlone(run, task, encoding, plan)
})
