import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../candles/json.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import type { RowFormat } from '../formats/row-format.js'
import { errnoCode } from '../fs/errno.js'
import type { OptionOf } from '../options.js'
import type { SeriesFingerprint } from '../rows/fingerprint.js'
import type { SeriesTotals } from '../rows/gaps.js'
import { VERSION } from '../version.js'
import { type Partition, seriesFolder } from './layout.js'

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
    const value = JSON.parse(text)
    if (value.schema !== SCHEMA) return { fault: 'another version wrote it' }
    const isWhole = isObject(value.options) && value.series.every(isSeries)
    return isWhole ? value : { fault: 'it has another form' }
  } catch {
    return { fault: 'it is damaged' }
  }
}

function isSeries({ symbol, interval, totals, parts }: LakeSeries): boolean {
  const isOfSeries = ({ path }: LakePart) => path.startsWith(`${seriesFolder({ symbol, interval })}/`)
  return isObject(totals) && parts.every(isOfSeries)
}
