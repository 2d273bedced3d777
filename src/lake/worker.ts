import { MirrorSource } from '../download/sources/mirror-source.js'
import { Mirror } from '../mirror/mirror.js'
import { SendAhead } from '../threads/send-ahead.js'
import { runTasks } from '../threads/tasks.js'
import { encodeAlone, type SeriesMessage } from './parts/encode-series.js'
import type { SeriesTasks } from './parts/write-parts.js'

// The code of a worker of a lake: each task is a series. The main thread gets the bytes of its parts, because it owns all files.
void runTasks<SeriesTasks, true, SeriesMessage>(({ root, tasks, encoding }) => {
  // The main thread has read the mirror before, and has warned about it.
  const source = new MirrorSource(new Mirror(root), { now: Date.now(), warn: () => {} })
  return async (index, send) => {
    const messages = new SendAhead<SeriesMessage>(send)
    const isEncoded = await encodeAlone(source, tasks[index], encoding, message =>
      message instanceof Uint8Array ? messages.addBytes(message) : messages.add(message),
    )
    await messages.end()
    return isEncoded || undefined
  }
})
