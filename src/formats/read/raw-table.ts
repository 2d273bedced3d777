import { parseObject } from '../../candles/json.js'
import { isFingerprint, type SeriesFingerprint } from '../../rows/fingerprint.js'

/** The cells of a row in the order of the columns: texts, numbers and integers, as the format has them. */
export type RawRow = readonly unknown[]

/** A file as a table whose cells nobody has checked yet. */
export interface RawTable {
  readonly columns: readonly string[]
  readonly facts: FileFacts
  /** The columns of doubles, if the format says that. */
  readonly doubles: readonly string[]
  /** Reads the rows in order, many at once: memory does not grow with their number. */
  rows(): AsyncIterable<readonly RawRow[]>
}

/** What a file says about itself, as its metadata has it. */
export interface FileFacts {
  /** `BTCUSDT`, or several joined by commas. */
  readonly symbol?: string | undefined
  readonly interval?: string | undefined
  /** The fingerprints of the candles that it was made from. */
  readonly fingerprints?: readonly SeriesFingerprint[] | undefined
}

/** The facts in the metadata of a file, which anybody may have written: nothing for metadata of another form. */
export function parseFacts(text: string | null | undefined): FileFacts {
  const facts = text ? parseObject(text) : undefined
  if (facts === undefined) return {}
  const { symbol, interval, fingerprints } = facts
  return {
    symbol: typeof symbol === 'string' ? symbol : undefined,
    interval: typeof interval === 'string' ? interval : undefined,
    fingerprints: Array.isArray(fingerprints) && fingerprints.every(isFingerprint) ? fingerprints : undefined,
  }
}
