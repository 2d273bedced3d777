import { MirrorSource } from '../download/sources/mirror-source.js'
import { Mirror } from '../mirror/mirror.js'
import { runTasks } from '../threads/tasks.js'
import { type EncodeTask, encodeFromMirror } from './encode.js'
import type { WorkerScope } from './write-tasks.js'

// The code of a worker of exports and lakes. It writes temp files; the main thread puts them in their places.
void runTasks(({ root, encoding }: WorkerScope) => {
  // The main thread has read the mirror before, and has warned about it.
  const source = new MirrorSource(new Mirror(root), { now: Date.now(), warn: () => {} })
  return (task: EncodeTask) => encodeFromMirror(source, task, encoding)
})
