import { stat } from 'node:fs/promises'
import { type FileOptions, type FilePlace, OutputFile, prepareFile } from './file.js'
import { GzipOutput } from './gzip.js'
import type { Output } from './output.js'
import { StreamOutput } from './stream.js'
import { removeLeftovers } from './temp.js'

/** How outputs are opened. */
export interface OpenOptions extends FileOptions {
  readonly signal?: AbortSignal | undefined
  /** Opens what takes the bytes instead of a file or stdout. Called with the first row of each output. */
  readonly sink?: (() => Output | Promise<Output>) | undefined
}

/** Whether bytes written to a path cannot be taken back: stdout, a FIFO, a device. */
export async function isStream(path: string): Promise<boolean> {
  const stats = path === '-' ? undefined : await stat(path).catch(() => undefined)
  return path === '-' || stats?.isFile() === false
}

/** Prepares the file of an output; undefined for one without a file: a `sink`, stdout or a FIFO. */
export async function prepareOutput(path: string, options: OpenOptions): Promise<FilePlace | undefined> {
  if (options.sink || path === '-') return undefined
  const stats = await stat(path).catch(() => undefined)
  return stats?.isFIFO() ? undefined : prepareFile(path, options)
}

/** Opens an output without a file: the `sink`, if there is one; else stdout for `-`, and a FIFO is written as it is read. */
export async function openStream(path: string, options: OpenOptions): Promise<Output> {
  if (options.sink) return options.sink()
  return path === '-' ? StreamOutput.toStdout(options.signal) : StreamOutput.toFifo(path, options.signal)
}

/** Prepares and opens an output that the caller writes itself. */
export async function openOutput(path: string, gzip: boolean, options: OpenOptions): Promise<Output> {
  await removeLeftovers([path])
  const place = await prepareOutput(path, options)
  const output = place ? await OutputFile.open(place) : await openStream(path, options)
  return gzip ? new GzipOutput(output) : output
}
