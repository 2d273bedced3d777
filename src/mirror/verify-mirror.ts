import { setImmediate as nextTurn } from 'node:timers/promises'
import { KlinesError } from '../klines/errors.js'
import { gridOffset, strangeRow } from '../klines/grid.js'
import { parseStartDates, parseSymbols } from '../klines/lists.js'
import type { TreeEntry } from '../klines/paths.js'
import { seriesName, type WindowRef, windowName } from '../klines/series.js'
import type { Mirror } from './mirror.js'
import { leftoverTemps, type TreeFile, treeFiles } from './tree-files.js'

/** Files read between two looks at the signal. */
const FILES_A_TURN = 32

/** A file that is not what it should be. */
export interface UnsoundFile extends TreeFile {
  /** What is wrong with it, in words. */
  readonly why: string
}

/** What a mirror's files are worth. */
export interface MirrorVerdict {
  readonly mirror: string
  /** Files that were read. */
  readonly files: number
  readonly windows: number
  readonly candles: number
  readonly bytes: number
  readonly unsound: readonly UnsoundFile[]
  /** Files in the tree that no path names: never read, and in nobody's way. */
  readonly strays: readonly string[]
}

/** How a verification talks with who started it. */
export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined
  readonly now?: number
  readonly progress?: (done: number, total: number) => void
}

/**
 * Reads every file of a mirror: lists and windows by their codecs, candles by the grid of their series, and finds temp files
 * that dead processes left. A digit that was flipped for another one is still sound; `klines verify` compares intervals.
 */
export async function verifyMirror(mirror: Mirror, options: VerifyOptions = {}): Promise<MirrorVerdict> {
  const { signal, now = Date.now(), progress } = options
  const files = treeFiles(mirror.root)
  const reader = new FileReader(mirror)
  const unsound: UnsoundFile[] = []
  for (const [index, { path, entry }] of files.entries()) {
    if (index % FILES_A_TURN === 0) {
      await nextTurn()
      signal?.throwIfAborted()
    }
    const why = entry && reader.faultOf(path, entry)
    if (why !== undefined) unsound.push({ path, entry, why })
    progress?.(index + 1, files.length)
  }
  for (const path of leftoverTemps(mirror.root, now)) {
    unsound.push({ path, entry: undefined, why: 'a temp file of a process that is gone' })
  }
  const strays = files.filter(({ entry }) => entry === undefined).map(({ path }) => path)
  const { windows, candles, bytes } = reader
  return { mirror: mirror.root, files: files.length - strays.length, windows, candles, bytes, unsound, strays }
}

/** Reads files for a look, and counts what it saw. */
class FileReader {
  windows = 0
  candles = 0
  bytes = 0
  /** Grid offset of each 3d series, from its first candle on. */
  private readonly phases = new Map<string, number>()

  constructor(private readonly mirror: Mirror) {}

  /** What is wrong with a file, in words; undefined when nothing is, or it is gone. */
  faultOf(path: string, entry: TreeEntry): string | undefined {
    return entry.kind === 'window' ? this.windowFault(entry.window) : this.listFault(path, entry)
  }

  private windowFault(window: WindowRef): string | undefined {
    this.windows++
    const batch = this.mirror.readBriefly(window)
    if (batch === undefined) return undefined
    if (batch instanceof KlinesError) return batch.message.replace(`${windowName(window)}: `, '')
    this.candles += batch.length
    this.bytes += batch.bytes.length
    if (window.interval !== '3d' || batch.length === 0) return strangeRow(batch)
    const name = seriesName(window)
    const phase = this.phases.get(name) ?? gridOffset('3d', batch.openTime(0))
    this.phases.set(name, phase)
    return strangeRow(batch, phase)
  }

  private listFault(path: string, entry: TreeEntry): string | undefined {
    const file = this.mirror.readBytes(path)
    if (file === undefined) return undefined
    if (file === 'broken') return 'not a regular file'
    this.bytes += file.bytes.length
    try {
      if (entry.kind === 'startDates') parseStartDates(file.bytes, entry.interval)
      else parseSymbols(file.bytes)
      return undefined
    } catch (error) {
      if (error instanceof KlinesError) return error.message
      throw error
    }
  }
}
