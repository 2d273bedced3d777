import { seriesName } from '../../candles/series.js'
import { formatCount, formatTime, plural } from '../../candles/text.js'
import type { FileFingerprint } from '../../identity/fingerprint-files.js'
import type { CoveredFingerprint } from '../../identity/fingerprint-klines.js'
import type { FingerprintReport, SeriesFingerprint } from '../../rows/fingerprint.js'
import { report } from '../report.js'
import { derived, flag, list, object, optional, text } from '../schema.js'
import { coverage, fingerprint, set, sumOf } from './fields.js'

/** A fingerprint of the mirror, with a coverage where a range was requested, or of a file. */
type AnyFingerprint = SeriesFingerprint &
  Partial<Pick<FileFingerprint, 'file' | 'isNamed'> & Pick<CoveredFingerprint, 'coverage'>>

/** `fingerprint`: a line for each series, as `sha256sum` prints them, and one for all. */
export const Fingerprint = report(
  'klines-fingerprint',
  {
    series: list(
      object({
        ...fingerprint,
        coverage: optional(coverage),
        file: optional(text('file or folder that the candles are in')),
        named: derived(
          optional(flag('whether a file of doubles names the fingerprint, so that it was not computed')),
          ({ isNamed }: AnyFingerprint) => isNamed,
        ),
      }),
    ),
    set,
  },
  (result: FingerprintReport<AnyFingerprint>) => fingerprintLines(result).join('\n'),
)

const NAMED = 'named by the file, not computed from it'

/** The lines of fingerprints: `klines:1:9f2c...  BTCUSDT 1h  2,181 candles  2024-12-30 00:00 to 2025-03-30 23:00`. */
export function fingerprintLines({ series, set }: FingerprintReport<AnyFingerprint>): string[] {
  const lines = series.map(({ fingerprint, candles, firstOpenTime, lastOpenTime, isNamed, ...label }) => {
    const range = `${formatTime(firstOpenTime)} to ${formatTime(lastOpenTime)}`
    return [fingerprint, seriesName(label), plural(candles, 'candle'), range, ...(isNamed ? [NAMED] : [])].join('  ')
  })
  if (set === undefined) return lines
  const total = plural(sumOf(series, 'candles'), 'candle')
  const count = series.filter(({ isNamed }) => isNamed).length
  const named = count === 0 ? [] : [`with ${count === 1 ? 'one' : formatCount(count)} named by the file`]
  return [...lines, [set, plural(series.length, 'series'), total, ...named].join('  ')]
}
