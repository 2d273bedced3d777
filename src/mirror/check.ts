import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { decodeInPlace, findMisplacedRow } from '../klines/batch/window-codec.js'
import { isKlinesError } from '../klines/errors.js'
import { Kernel } from '../klines/kernel/kernel.js'
import { parseStartDates, parseSymbols } from '../klines/lists.js'
import type { TreeEntry } from '../klines/paths.js'
import { buildSeriesGrid } from '../klines/resample/candle-grid.js'
import { seriesName, type WindowRef, windowName } from '../klines/series.js'
import type { Mirror } from './mirror.js'
import { listTreeFiles, type TreeFile } from './walk.js'

/** How many files are read before the signal is checked again. */
const FILES_PER_TURN = 32

/** A corrupt file of a mirror. */
export interface CorruptFile extends TreeFile {
  /** The fault, as text. */
  readonly reason: string
}

/** The result of `checkMirror`. */
export interface MirrorCheckReport {
  readonly mirror: string
  /** Files read. */
  readonly files: number
  readonly windows: number
  readonly candles: number
  readonly bytes: number
  readonly corrupt: readonly CorruptFile[]
  /** Files in the tree that do not belong to it; they are never read. */
  readonly strays: readonly string[]
}

/** Options of `checkMirror`. */
export interface CheckOptions {
  readonly signal?: AbortSignal | undefined
  readonly now?: number
  readonly progress?: (done: number, total: number) => void
}

/**
 * Reads every file of a mirror, checks lists and windows with their codecs and candles against the grid of their series, and
 * finds the temp files of dead processes. It does not notice a changed digit; `klines verify` compares intervals. Throws
 * `mirror_unusable` for a file that cannot be read: what is in it is not known.
 */
export async function checkMirror(mirror: Mirror, options: CheckOptions = {}): Promise<MirrorCheckReport> {
  const { signal, now = Date.now(), progress } = options
  const files = listTreeFiles(mirror.root)
  const checker = new FileChecker(mirror)
  const faults = new Map<string, string>()
  for (const [index, { path, entry }] of files.entries()) {
    if (index % FILES_PER_TURN === 0) {
      await nextTurn()
      signal?.throwIfAborted()
    }
    const reason = entry && checker.findFault(path, entry)
    if (reason !== undefined) faults.set(path, reason)
    progress?.(index + 1, files.length)
  }
  for (const path of checker.grids.outliers()) faults.set(path, 'not on the grid of the other windows of its series')
  const corrupt = files.flatMap(({ path, entry }) => {
    const reason = faults.get(path)
    return reason === undefined ? [] : [{ path, entry, reason }]
  })
  for (const path of mirror.upkeep.leftoverTemps(now)) {
    corrupt.push({ path, entry: undefined, reason: 'a temp file of a process that is gone' })
  }
  const strays = files.filter(({ entry }) => entry === undefined).map(({ path }) => path)
  return { mirror: mirror.root, ...checker.counts, corrupt, strays }
}

/** Checks files and counts them. */
class FileChecker {
  readonly counts = { files: 0, windows: 0, candles: 0, bytes: 0 }
  readonly grids = new SeriesGrids()
  private readonly kernel = new Kernel()

  constructor(private readonly mirror: Mirror) {}

  /** The fault of a file as text; undefined for a valid or missing file. Throws `mirror_unusable` for one that cannot be read. */
  findFault(path: string, entry: TreeEntry): string | undefined {
    try {
      const file = this.mirror.files.read(path)
      if (file.state === 'missing') return undefined
      this.counts.files++
      if (entry.kind === 'window') this.counts.windows++
      if (file.state === 'corrupt') return file.reason
      this.counts.bytes += file.bytes.length
      if (entry.kind === 'window') return this.findWindowFault(path, entry.window, file.bytes)
      if (entry.kind === 'startDates') parseStartDates(file.bytes, entry.interval)
      else parseSymbols(file.bytes)
      return undefined
    } catch (error) {
      if (isKlinesError(error, 'bad_list')) return error.message
      throw error
    }
  }

  private findWindowFault(path: string, window: WindowRef, bytes: Buffer): string | undefined {
    let batch: KlineBatch
    try {
      batch = decodeInPlace(bytes, window, this.kernel)
    } catch (error) {
      if (!isKlinesError(error, 'bad_window')) throw error
      return error.message.replace(`${windowName(window)}: `, '')
    }
    this.counts.candles += batch.length
    const reason = findMisplacedRow(batch)
    if (reason === undefined && window.interval === '3d' && batch.length > 0) {
      this.grids.add(seriesName(window), path, buildSeriesGrid(window, 0).offset(batch.openTime(0)))
    }
    return reason
  }
}

/** The 3d grid of each symbol: a window on another grid belongs to another symbol. */
class SeriesGrids {
  private readonly series = new Map<string, { path: string; offset: number }[]>()

  add(series: string, path: string, offset: number): void {
    this.series.set(series, [...(this.series.get(series) ?? []), { path, offset }])
  }

  /** The windows that are not on the grid of most windows of their series; all windows of a series without a majority. */
  outliers(): string[] {
    return [...this.series.values()].flatMap(windows => {
      const isCommon = (offset: number) =>
        2 * windows.filter(window => window.offset === offset).length > windows.length
      return windows.filter(({ offset }) => !isCommon(offset)).map(({ path }) => path)
    })
  }
}
