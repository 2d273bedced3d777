import { stat } from 'node:fs/promises'
import { OutputFile } from './file.js'
import { StreamOutput } from './stream.js'

/** Where the bytes of a target go. */
export type Output = OutputFile | StreamOutput

/** Whether what is written to a target is out of our hands at once: stdout, a FIFO, a device. */
export async function isStream(path: string): Promise<boolean> {
  const there = path === '-' ? undefined : await stat(path).catch(() => undefined)
  return path === '-' || there?.isFile() === false
}

/** Opens a target: `-` is stdout, a FIFO is written as it is read, anything else is a file. */
export async function openOutput(path: string, force: boolean, signal?: AbortSignal): Promise<Output> {
  if (path === '-') return StreamOutput.toStdout(signal)
  const there = await stat(path).catch(() => undefined)
  return there?.isFIFO() ? StreamOutput.toFifo(path, signal) : OutputFile.create(path, force)
}
