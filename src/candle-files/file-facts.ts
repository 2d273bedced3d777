import type { SeriesFingerprint } from '../fingerprint/fingerprint.js'
import { isFingerprint } from '../fingerprint/is-fingerprint.js'
import { parseObject } from '../klines/json.js'

/** What a file says about itself, as its metadata has it. */
export interface FileFacts {
  /** `BTCUSDT`, or several joined by commas. */
  readonly symbol?: string | undefined
  readonly interval?: string | undefined
  /** The fingerprints of the candles that it was made from. */
  readonly fingerprints?: readonly SeriesFingerprint[] | undefined
}

const MAX_LENGTH = 1024 * 1024

/** The facts in the metadata of a file, which anybody may have written: nothing for metadata of another form. */
export function parseFacts(text: string | null | undefined): FileFacts {
  const facts = text && text.length <= MAX_LENGTH ? parseObject(text) : undefined
  if (facts === undefined) return {}
  const { symbol, interval, fingerprints } = facts
  return {
    symbol: typeof symbol === 'string' ? symbol : undefined,
    interval: typeof interval === 'string' ? interval : undefined,
    fingerprints: Array.isArray(fingerprints) && fingerprints.every(isFingerprint) ? fingerprints : undefined,
  }
}
