import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../candles/json.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import type { RowFormat } from '../formats/row-format.js'
import { errnoCode } from '../fs/errno.js'
import type { OptionOf } from '../options/output-options.js'
import { isFingerprint, type SeriesFingerprint } from '../rows/fingerprint.js'
import type { SeriesTotals } from '../rows/gaps.js'
import { VERSION } from '../version.js'
import { type Partition, parsePartPath } from './layout.js'

/** The file in the root of a lake that says what the lake is made of. It is a cache: without it, every part is written again. */
export const MANIFEST_FILE = '_klines.json'
/** The version of its form. */
const SCHEMA = 2

/** What all parts of a lake have in common. */
export interface LakeOptions extends Pick<RowFormat, OptionOf<'parquet'>> {
  /** As `describeRange` describes it. */
  readonly range: string
  readonly resample: string | null
  readonly partial: boolean
  readonly partition: Partition
}

/** A Parquet file of a lake. */
export interface LakePart {
  /** Relative to the lake, with slashes. */
  readonly path: string
  /** The key of its inputs: what the file follows from. */
  readonly key: string
  /** Of the file as it was put in its place: bytes, and ms UTC. */
  readonly size: number
  readonly mtime: number
  readonly rows: number
  /** Open times of its first and last row, ms UTC. */
  readonly first: number
  readonly last: number
}

/** A series of a lake. */
export interface LakeSeries extends SeriesLabel {
  /** The interval that it is made of. */
  readonly source: string
  /** Changes whenever a file changes that it is made of: as long as it stays, no window is read. */
  readonly seen: string
  /** Of the candles that were read. */
  readonly totals: SeriesTotals
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

export function encodeManifest({ source, options, series }: LakeManifest): Buffer {
  const head = { schema: SCHEMA, tool: `klines ${VERSION}`, source, options }
  const sorted = series.toSorted((a, b) => (seriesName(a) < seriesName(b) ? -1 : 1))
  // A line for each series: a change of one shows as such.
  const lines = sorted.map(entry => `    ${JSON.stringify(entry)}`).join(',\n')
  return Buffer.from(JSON.stringify(head, null, 2).replace(/\n\}$/, `,\n  "series": [\n${lines}\n  ]\n}\n`))
}

/**
 * Reads the manifest of a lake: `missing`, a manifest, or why it cannot be used, as part of a sentence. Throws what the file system
 * throws.
 */
export function readManifest(root: string): LakeManifest | 'missing' | { readonly fault: string } {
  let text: string
  try {
    text = readFileSync(join(root, MANIFEST_FILE), 'utf8')
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return 'missing'
    throw error
  }
  try {
    const value: unknown = JSON.parse(text)
    if (isManifest(value)) return value
    return { fault: isObject(value) && value.schema !== SCHEMA ? 'another version wrote it' : 'it has another form' }
  } catch {
    return { fault: 'it is not JSON' }
  }
}

function isManifest(value: unknown): value is LakeManifest {
  return isObject(value) && value.schema === SCHEMA && isObject(value.options) && isListOf(value.series, isSeries)
}

function isSeries({ symbol, interval, totals, parts, fingerprint }: Readonly<Record<string, unknown>>): boolean {
  if (!isObject(totals) || (fingerprint !== undefined && !isFingerprint(fingerprint))) return false
  return isListOf(parts, ({ path }) => {
    const label = parsePartPath(String(path))
    return label !== undefined && label.symbol === symbol && label.interval === interval
  })
}

function isListOf(value: unknown, isItem: (item: Readonly<Record<string, unknown>>) => boolean): boolean {
  return Array.isArray(value) && value.every(item => isObject(item) && isItem(item))
}
