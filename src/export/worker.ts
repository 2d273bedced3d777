import { MirrorSource } from '../download/sources/mirror-source.js'
import { Mirror } from '../mirror/mirror.js'
import { SendAhead } from '../threads/send-ahead.js'
import { runTasks } from '../threads/tasks.js'
import { type EncodedTarget, encodeTarget } from './encode-target.js'
import type { TargetTask } from './threaded-targets.js'

// The code of a worker of an export: each task is a target. The main thread gets its bytes, because it owns all files.
void runTasks<TargetTask, true, Uint8Array | EncodedTarget>(({ root, targets, options }) => {
  // The main thread has read the mirror before, and has warned about it.
  const source = new MirrorSource(new Mirror(root), { now: Date.now(), warn: () => {} })
  return async (index, send) => {
    const messages = new SendAhead<Uint8Array | EncodedTarget>(send)
    const encoded = await encodeTarget(source, targets[index], options, bytes => messages.addBytes(bytes))
    if (encoded) await messages.add(encoded)
    await messages.end()
    return encoded && true
  }
})
