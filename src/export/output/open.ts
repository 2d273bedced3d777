import { stat } from 'node:fs/promises'
import { type FileOptions, OutputFile } from './file.js'
import { GzipOutput } from './gzip.js'
import type { Output } from './output.js'
import { StreamOutput } from './stream.js'

/** How outputs are opened. */
export interface OpenOptions extends FileOptions {
  readonly signal?: AbortSignal | undefined
  /** Opens what takes the bytes instead of a file or stdout. Called with the first row of each target. */
  readonly sink?: (() => Output | Promise<Output>) | undefined
}

/** Whether bytes written to a path cannot be taken back: stdout, a FIFO, a device. */
export async function isStream(path: string): Promise<boolean> {
  const stats = path === '-' ? undefined : await stat(path).catch(() => undefined)
  return path === '-' || stats?.isFile() === false
}

/** Opens a target: the `sink`, if there is one; else `-` is stdout, a FIFO is written as it is read, anything else is a file. */
export async function openOutput(path: string, gzip: boolean, options: OpenOptions): Promise<Output> {
  const output = await openPath(path, options)
  return gzip ? new GzipOutput(output) : output
}

async function openPath(path: string, options: OpenOptions): Promise<Output> {
  if (options.sink) return options.sink()
  if (path === '-') return StreamOutput.toStdout(options.signal)
  const stats = await stat(path).catch(() => undefined)
  return stats?.isFIFO() ? StreamOutput.toFifo(path, options.signal) : OutputFile.create(path, options)
}
