import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { RowFormat } from '../row-format.js'

/** What a file says of itself where its format has a place for it. */
export interface FileMetadata {
  /** `BTCUSDT`, or several joined by commas. */
  readonly symbol: string
  readonly interval: string
  /** The range asked for, as an ISO 8601 interval; `..` for an open end. */
  readonly range: string
  /** Base address the candles come from, `unknown` for a bare tree. */
  readonly source: string
  /** Version of this tool. */
  readonly version: string
}

/** What an exporter tells besides its bytes. */
export interface ExportStats {
  /** Decimals whose double does not give their digits back (`numbers: 'double'` only). */
  inexactDoubles: number
}

/**
 * One format: batches in, the bytes of one file out. Batches come series by series, each in order of time. Memory does
 * not grow with the number of rows. Output depends on nothing but the arguments.
 */
export type Exporter = (
  batches: AsyncIterable<KlineBatch>,
  shape: RowFormat,
  facts: FileMetadata,
  notes: ExportStats,
) => AsyncIterable<Uint8Array>
