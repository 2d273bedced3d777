import type { WindowResult } from '../../download/sources/window-source.js'
import { sha256 } from '../../fs/checksum.js'
import type { SeriesTotals } from '../../klines/audit/gap-counter.js'
import type { FileVersion } from '../../mirror/file-store.js'
import { type FileContent, versionText } from './file-version.js'

/** A window that a part was made of. One without a file, of a complete mirror, has the size 0. */
export interface WindowContent extends FileContent {
  readonly startDate: string
  /** Of its candles, as `packTotals` makes them; undefined when they were not counted. */
  readonly totals?: PackedTotals | undefined
}

/** The ticks of file systems are shorter: an older file that is written again gets another time. */
const TICK_MS = 2_000

/** The content of a window's file, as its rows were read from it. */
export function readContent({ window: { startDate }, batch, size, file }: WindowResult): WindowContent {
  // Only an empty window has no file.
  const bytes = size === 0 ? new Uint8Array() : (file?.bytes ?? batch.bytes)
  return { startDate, size, sha256: sha256(bytes), version: file && settledVersion(file) }
}

/** The version of a file that surely has the content that was read; undefined when the file was written just now. */
export function settledVersion(file: FileVersion): string | undefined {
  return file.ctimeMs < Date.now() - TICK_MS ? versionText(file) : undefined
}

/** The totals of a window's candles: rows, open times of the first and the last (ms UTC), gaps, missing candles. Empty without candles. */
export type PackedTotals = readonly number[]

/** The totals of a window as the manifest has them. */
export function packTotals({ rows, firstOpenTime, lastOpenTime, gaps, missing }: SeriesTotals): PackedTotals {
  return firstOpenTime === undefined || lastOpenTime === undefined
    ? []
    : [rows, firstOpenTime, lastOpenTime, gaps, missing]
}

/** The totals that `packTotals` made. */
export function unpackTotals([
  rows = 0,
  firstOpenTime,
  lastOpenTime,
  gaps = 0,
  missing = 0,
]: PackedTotals): SeriesTotals {
  return { rows, firstOpenTime, lastOpenTime, gaps, missing }
}
