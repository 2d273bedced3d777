import type { SeriesFingerprint } from '../rows/fingerprint.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import type { RowFormat } from './row-format.js'

/** What a file says about itself where its format has a place for that. */
export interface FileMetadata {
  /** `BTCUSDT`, or several joined by commas. */
  readonly symbol: string
  readonly interval: string
  /** See `describeRange`. */
  readonly range: string
  /** Base address, or `unknown`. */
  readonly source: string
  readonly version: string
}

/** The key of the metadata in Parquet and Arrow files: one, so that there is no order of keys. */
export const METADATA_KEY = 'klines'

/** The metadata as JSON. `details`: what a format adds. */
export function metadataText({ version, ...metadata }: FileMetadata, details: object = {}): string {
  return JSON.stringify({ ...metadata, ...details, schema: 'klines/1', version: `klines ${version}` })
}

/** The bytes of a file depend on nothing but this and the rows. */
export interface ExporterOptions {
  readonly rowFormat: RowFormat
  readonly metadata: FileMetadata
  /** Counts decimals whose double has other digits (`numbers: 'double'` only). */
  readonly stats: { inexactDoubles: number }
  /** Those of the rows when all were written, if wanted. */
  readonly fingerprints?: () => readonly SeriesFingerprint[] | undefined
  /** Takes the next bytes of the file; the exporter waits for it. The bytes are never written to again. */
  readonly emit: (bytes: Uint8Array) => Promise<void>
}

/** Writes the rows of one file in one format. Memory does not grow with the number of rows. */
export interface Exporter {
  /** Adds rows: series by series, each in order of time. The batch must stay valid until the promise resolves. */
  write(batch: KlineBatch): Promise<void>
  /** Writes what is left, and the end of the file. */
  end(): Promise<void>
}
