import { constants } from 'node:buffer'
import { join } from 'node:path'
import type { FileContent } from '../export/file-content.js'
import { isFingerprint, type SeriesFingerprint } from '../fingerprint/fingerprint.js'
import { readFile } from '../fs/read-file.js'
import type { SeriesTotals } from '../klines/audit/gap-counter.js'
import { isObject } from '../klines/json.js'
import type { SeriesLabel } from '../klines/series.js'
import { VERSION } from '../version.js'
import { parsePartPath } from './layout.js'
import { isLakeOptions, type LakeOptions } from './options.js'

/** The file in the root of a lake that says what the lake is made of. */
export const MANIFEST_FILE = '_klines.json'
/** The version of its form. */
const SCHEMA = 1

/** A Parquet file of a lake. */
export interface LakePart extends FileContent {
  /** Relative to the lake, with slashes. */
  readonly path: string
  readonly rows: number
  /** ms UTC. */
  readonly firstOpenTime: number
  readonly lastOpenTime: number
  /** The startDates of the windows that it depends on. */
  readonly windows: readonly string[]
}

/** A window that a part was made of. One without a file, of the bundled sample, has the size 0. */
export interface WindowContent extends FileContent {
  readonly startDate: string
  /** Of its candles, as `packTotals` makes them; undefined when they were not counted. */
  readonly totals?: PackedTotals | undefined
}

/** The totals of a window's candles: their number, open times of the first and the last (ms UTC), gaps, missing candles. Empty without candles. */
type PackedTotals = readonly number[]

/** A series of a lake. */
export interface LakeSeries extends SeriesLabel {
  /** The interval that it is made of. */
  readonly source: string
  /**
   * What resampled candles depend on beside windows, ms UTC: where their grid and their source start and, if the last windows are
   * final, until when the source is known to have no more candles.
   */
  readonly grid: readonly (number | null)[]
  readonly windows: readonly WindowContent[]
  readonly parts: readonly LakePart[]
  /** Of its candles, if the lake has fingerprints and the series has candles. */
  readonly fingerprint?: SeriesFingerprint | undefined
}

/** What a lake is made of. */
export interface LakeManifest {
  /** Base address of the candles; null for a mirror that does not say it. */
  readonly source: string | null
  readonly options: LakeOptions
  readonly series: readonly LakeSeries[]
}

/** A manifest as it was found. */
export type ManifestRead =
  | { readonly state: 'read'; readonly manifest: LakeManifest }
  | { readonly state: 'missing' }
  | { readonly state: 'damaged'; readonly reason: string }
  | { readonly state: 'newer'; readonly schema: number }

export function encodeManifest({ source, options, series }: LakeManifest): Buffer {
  const head = { schema: SCHEMA, tool: `klines ${VERSION}`, source, options }
  // A line for each series: a change of one shows as such.
  const lines = series.map(entry => `    ${JSON.stringify(entry)}`).join(',\n')
  const text = JSON.stringify(head, null, 2).replace(/\n\}$/, `,\n  "series": [\n${lines}\n  ]\n}\n`)
  return Buffer.from(text)
}

/** Whether two manifests say the same, but for the versions of files: those of copies are others. */
export function isSameManifest(a: LakeManifest, b: LakeManifest): boolean {
  return toComparedText(a) === toComparedText(b)
}

/** A manifest as JSON. A function for each value of it would take several times as long. */
function toComparedText({ series, ...rest }: LakeManifest): string {
  const withoutVersion = <T extends FileContent>(file: T) => ({ ...file, version: undefined })
  const compared = series.map(({ windows, parts, ...entry }) => {
    return { ...entry, windows: windows.map(withoutVersion), parts: parts.map(withoutVersion) }
  })
  return JSON.stringify({ ...rest, series: compared })
}

/** Reads the manifest of a lake, which may be anything. Throws what the file system throws. */
export function readManifest(root: string): ManifestRead {
  const file = readFile(join(root, MANIFEST_FILE), constants.MAX_STRING_LENGTH)
  if (file.state === 'missing') return file
  if (file.state === 'corrupt') return { state: 'damaged', reason: `it is ${file.reason}` }
  try {
    const value = JSON.parse(file.bytes.toString())
    if (Number.isInteger(value?.schema) && value.schema > SCHEMA) return { state: 'newer', schema: value.schema }
    if (!isManifest(value)) return { state: 'damaged', reason: 'it has another form' }
    const { source, options, series } = value
    return { state: 'read', manifest: { source, options, series } }
  } catch {
    return { state: 'damaged', reason: 'it is not JSON' }
  }
}

type Fields = Readonly<Record<string, unknown>>

function isManifest(value: unknown): value is LakeManifest {
  if (!isObject(value) || value.schema !== SCHEMA || !isLakeOptions(value.options)) return false
  return (value.source === null || typeof value.source === 'string') && isListOf(value.series, isSeries)
}

function isSeries(value: Fields): boolean {
  const { symbol, interval, source, grid, windows, parts, fingerprint } = value
  if (![symbol, interval, source].every(text => typeof text === 'string') || !Array.isArray(grid)) return false
  if (!isListOf(windows, isWindow) || (fingerprint !== undefined && !isFingerprint(fingerprint))) return false
  return isListOf(parts, part => {
    const label = parsePartPath(String(part.path))
    if (label?.symbol !== symbol || label?.interval !== interval || !isContent(part)) return false
    const { rows, firstOpenTime, lastOpenTime } = part
    return [rows, firstOpenTime, lastOpenTime].every(Number.isSafeInteger) && Array.isArray(part.windows)
  })
}

function isWindow(value: Fields): boolean {
  const { startDate, totals = [] } = value
  if (typeof startDate !== 'string' || !isContent(value) || !Array.isArray(totals)) return false
  return [0, 5].includes(totals.length) && totals.every(Number.isSafeInteger)
}

function isContent({ size, sha256, version }: Fields): boolean {
  return Number.isSafeInteger(size) && typeof sha256 === 'string' && ['string', 'undefined'].includes(typeof version)
}

function isListOf(value: unknown, isItem: (item: Fields) => boolean): boolean {
  return Array.isArray(value) && value.every(item => isObject(item) && isItem(item))
}

/** The totals of a window as the manifest has them. */
export function packTotals({ candles, firstOpenTime, lastOpenTime, gaps, missing }: SeriesTotals): PackedTotals {
  return firstOpenTime === undefined || lastOpenTime === undefined
    ? []
    : [candles, firstOpenTime, lastOpenTime, gaps, missing]
}

/** The totals that `packTotals` made. */
export function unpackTotals([
  candles = 0,
  firstOpenTime,
  lastOpenTime,
  gaps = 0,
  missing = 0,
]: PackedTotals): SeriesTotals {
  return { candles, firstOpenTime, lastOpenTime, gaps, missing }
}
