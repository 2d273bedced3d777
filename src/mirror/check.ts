import { setImmediate as nextTurn } from 'node:timers/promises'
import { describeErrno } from '../fs/errno.js'
import { findMisplacedRow, gridOffset } from '../klines/audit/grid.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { decodeWindow } from '../klines/batch/window-codec.js'
import { KlinesError } from '../klines/errors.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { parseStartDates, parseSymbols } from '../klines/lists.js'
import type { TreeEntry } from '../klines/paths.js'
import { seriesName, type WindowRef, windowName } from '../klines/series.js'
import type { Mirror } from './mirror.js'
import { leftoverTemps, type TreeFile, treeFiles } from './walk.js'

/** Files read between two looks at the signal. */
const FILES_A_TURN = 32

/** A file that is not what it should be. */
export interface CorruptFile extends TreeFile {
  /** What is wrong with it, in words. */
  readonly reason: string
}

/** What a mirror's files are worth. */
export interface MirrorCheckReport {
  readonly mirror: string
  /** Files that were read. */
  readonly files: number
  readonly windows: number
  readonly candles: number
  readonly bytes: number
  readonly corrupt: readonly CorruptFile[]
  /** Files in the tree that no path names: never read, and in nobody's way. */
  readonly strays: readonly string[]
}

/** How a verification talks with who started it. */
export interface CheckOptions {
  readonly signal?: AbortSignal | undefined
  readonly now?: number
  readonly progress?: (done: number, total: number) => void
}

/**
 * Reads every file of a mirror: lists and windows by their codecs, candles by the grid of their series, and finds temp files
 * that dead processes left. A digit that was flipped for another one is still sound; `klines verify` compares intervals.
 */
export async function checkMirror(mirror: Mirror, options: CheckOptions = {}): Promise<MirrorCheckReport> {
  const { signal, now = Date.now(), progress } = options
  const files = treeFiles(mirror.root)
  const reader = new FileReader(mirror)
  const faults = new Map<string, string>()
  for (const [index, { path, entry }] of files.entries()) {
    if (index % FILES_A_TURN === 0) {
      await nextTurn()
      signal?.throwIfAborted()
    }
    const reason = entry && reader.findFault(path, entry)
    if (reason !== undefined) faults.set(path, reason)
    progress?.(index + 1, files.length)
  }
  for (const path of reader.grids.outliers()) faults.set(path, 'not on the grid of the other windows of its series')
  const corrupt = files.flatMap(({ path, entry }) => {
    const reason = faults.get(path)
    return reason === undefined ? [] : [{ path, entry, reason }]
  })
  for (const path of leftoverTemps(mirror.root, now)) {
    corrupt.push({ path, entry: undefined, reason: 'a temp file of a process that is gone' })
  }
  const strays = files.filter(({ entry }) => entry === undefined).map(({ path }) => path)
  const { files: read, windows, candles, bytes } = reader
  return { mirror: mirror.root, files: read, windows, candles, bytes, corrupt, strays }
}

/** Reads files for a look, and counts what it saw. */
class FileReader {
  files = 0
  windows = 0
  candles = 0
  bytes = 0
  readonly grids = new SeriesGrids()
  private readonly kernel = new Kernel()

  constructor(private readonly mirror: Mirror) {}

  /** What is wrong with a file, in words; undefined when nothing is, or it is gone. */
  findFault(path: string, entry: TreeEntry): string | undefined {
    try {
      const file = this.mirror.readBytes(path)
      if (file.state === 'missing') return undefined
      this.files++
      if (entry.kind === 'window') this.windows++
      if (file.state === 'not_regular') return 'not a regular file'
      this.bytes += file.bytes.length
      if (entry.kind === 'window') return this.windowFault(path, entry.window, file.bytes)
      if (entry.kind === 'startDates') parseStartDates(file.bytes, entry.interval)
      else parseSymbols(file.bytes)
      return undefined
    } catch (error) {
      if (!(error instanceof KlinesError)) throw error
      return error.code === 'mirror_unusable' ? `cannot be read: ${describeErrno(error.cause)}` : error.message
    }
  }

  private windowFault(path: string, window: WindowRef, bytes: Buffer): string | undefined {
    let batch: KlineBatch
    try {
      batch = decodeWindow(bytes, window, this.kernel)
    } catch (error) {
      return (error as Error).message.replace(`${windowName(window)}: `, '')
    }
    this.candles += batch.length
    const reason = findMisplacedRow(batch)
    if (reason === undefined && window.interval === '3d' && batch.length > 0) {
      this.grids.add(seriesName(window), path, gridOffset('3d', batch.openTime(0)))
    }
    return reason
  }
}

/** The 3d grids of symbols, each its own: what its windows do not agree on is of another symbol. */
class SeriesGrids {
  private readonly series = new Map<string, { path: string; offset: number }[]>()

  add(series: string, path: string, offset: number): void {
    this.series.set(series, [...(this.series.get(series) ?? []), { path, offset }])
  }

  /** Windows that are not on the grid that most windows of their series are on; all of a series where none has most. */
  outliers(): string[] {
    return [...this.series.values()].flatMap(windows => {
      const isCommon = (offset: number) => 2 * windows.filter(one => one.offset === offset).length > windows.length
      return windows.filter(({ offset }) => !isCommon(offset)).map(({ path }) => path)
    })
  }
}
