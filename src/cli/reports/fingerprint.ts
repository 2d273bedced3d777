import type { FileFingerprint } from '../../candle-files/fingerprint-files.js'
import type { FingerprintReport, SeriesFingerprint } from '../../fingerprint/fingerprint.js'
import type { CoveredFingerprint } from '../../identity/fingerprint-klines.js'
import { seriesName } from '../../klines/series.js'
import { formatCount, formatTime, plural } from '../../klines/text.js'
import { coverageObject } from './coverage.js'
import { type Report, sum } from './report.js'
import type { FingerprintObject } from './schema.js'

/** A fingerprint of the mirror, with a coverage where a range was requested, or of a file. */
type AnyFingerprint = SeriesFingerprint &
  Partial<Pick<FileFingerprint, 'file' | 'isNamed'> & Pick<CoveredFingerprint, 'coverage'>>

const NAMED = 'named by the file, not computed from it'

/** `fingerprint`: a line for each series, as `sha256sum` prints them, and one for all. */
export function fingerprintReport({ series, set }: FingerprintReport<AnyFingerprint>): Report<FingerprintObject> {
  const json = toFingerprintsObject({ series, set })
  return { json, text: () => fingerprintLines({ series, set }).join('\n') }
}

/** Fingerprints as `--json` has them. */
export function toFingerprintsObject({ series, set }: FingerprintReport<AnyFingerprint>) {
  return { series: series.map(toObject), set: set ?? null }
}

function toObject({ file, isNamed = false, coverage, ...fingerprint }: AnyFingerprint) {
  const { symbol, interval, candles, firstOpenTime, lastOpenTime, years } = fingerprint
  return {
    ...{ symbol, interval, fingerprint: fingerprint.fingerprint, candles, firstOpenTime, lastOpenTime, years },
    ...(coverage && { coverage: coverageObject(coverage) }),
    ...(file === undefined ? {} : { file, named: isNamed }),
  }
}

/** The lines of fingerprints: `klines:1:9f2c...  BTCUSDT 1h  2,181 candles  2024-12-30 00:00 to 2025-03-30 23:00`. */
export function fingerprintLines({ series, set }: FingerprintReport<AnyFingerprint>): string[] {
  const lines = series.map(({ fingerprint, candles, firstOpenTime, lastOpenTime, isNamed, ...label }) => {
    const range = `${formatTime(firstOpenTime)} to ${formatTime(lastOpenTime)}`
    return [fingerprint, seriesName(label), plural(candles, 'candle'), range, ...(isNamed ? [NAMED] : [])].join('  ')
  })
  if (set === undefined) return lines
  const total = plural(sum(series.map(({ candles }) => candles)), 'candle')
  const count = series.filter(({ isNamed }) => isNamed).length
  const named = count === 0 ? [] : [`with ${count === 1 ? 'one' : formatCount(count)} named by the file`]
  return [...lines, [set, plural(series.length, 'series'), total, ...named].join('  ')]
}
