import { MirrorSource } from '../download/sources/mirror-source.js'
import { Mirror } from '../mirror/mirror.js'
import { runTasks } from '../threads/tasks.js'
import { encodeFromMirror } from './encode.js'
import type { WorkerTasks } from './write-tasks.js'

// The code of a worker of exports and lakes. It writes temp files; the main thread puts them in their places.
void runTasks(({ root, tasks, encoding }: WorkerTasks) => {
  // The main thread has read the mirror before, and has warned about it.
  const source = new MirrorSource(new Mirror(root), { now: Date.now(), warn: () => {} })
  return index => encodeFromMirror(source, tasks[index], encoding)
})
