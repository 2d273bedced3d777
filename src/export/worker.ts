import { MirrorSource } from '../download/sources/mirror-source.js'
import { Mirror } from '../mirror/mirror.js'
import { runTasks } from '../threads/tasks.js'
import { type EncodedTarget, encodeTarget } from './encode-target.js'
import type { TargetTask } from './threaded-targets.js'

/** Chunks that wait for the main thread at once: it may be busy with a target of its own. */
const MAX_CHUNKS = 8

// The code of a worker of an export: each task is a target. The main thread gets its bytes, because it owns all files.
void runTasks<TargetTask, true, Uint8Array | EncodedTarget>(({ root, targets, options }) => {
  // The main thread has read the mirror before, and has warned about it.
  const source = new MirrorSource(new Mirror(root), { now: Date.now(), warn: () => {} })
  return async (index, send) => {
    const sending: Promise<void>[] = []
    const emit = async (bytes: Uint8Array) => {
      if (sending.length === MAX_CHUNKS) await sending.shift()
      // A copy, because the bytes may be a part of a larger buffer.
      const copy = new Uint8Array(bytes)
      const sent = send(copy, [copy.buffer])
      sending.push(sent)
      // The next wait reports it.
      sent.catch(() => {})
    }
    const encoded = await encodeTarget(source, targets[index], options, emit)
    await Promise.all(sending)
    if (encoded) await send(encoded)
    return encoded && true
  }
})
