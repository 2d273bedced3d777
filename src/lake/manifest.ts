import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../candles/json.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import type { RowFormat } from '../formats/row-format.js'
import { errnoCode } from '../fs/errno.js'
import type { OptionOf } from '../options.js'
import type { SeriesFingerprint } from '../rows/fingerprint.js'
import { VERSION } from '../version.js'

/** The file in the root of a lake that says what the lake is made of. It is a cache: without it, every part is written again. */
export const MANIFEST_FILE = '_klines.json'
/** The version of its form. */
const SCHEMA = 3

/** What all parts of a lake have in common. */
export interface LakeOptions extends Pick<RowFormat, OptionOf<'parquet'>> {
  /** As `describeRange` describes it. */
  readonly range: string
  readonly resample: string | null
  readonly partial: boolean
}

/** A Parquet file of a lake, as it was put in its place. */
export interface LakePart {
  readonly size: number
  /** ms UTC. */
  readonly mtime: number
  readonly rows: number
}

export interface LakeSeries extends SeriesLabel {
  /** The key of its inputs: changes whenever a file changes that it is made of, or what is made of these. */
  readonly seen: string
  /** If the series has candles. */
  readonly part?: LakePart | undefined
  /** If the lake has fingerprints and the series has candles. */
  readonly fingerprint?: SeriesFingerprint | undefined
}

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

/** The manifest of a lake; `damaged` for one that this version cannot use. Throws what the file system throws. */
export function readManifest(root: string): LakeManifest | 'missing' | 'damaged' {
  let text: string
  try {
    text = readFileSync(join(root, MANIFEST_FILE), 'utf8')
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return 'missing'
    throw error
  }
  try {
    const value = JSON.parse(text)
    return value.schema === SCHEMA && isObject(value.options) && value.series.every(isObject) ? value : 'damaged'
  } catch {
    return 'damaged'
  }
}
