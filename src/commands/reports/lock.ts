import { KlinesError } from '../../candles/errors.js'
import { seriesName as nameOf, windowName } from '../../candles/series.js'
import { firstLines, formatCount, formatTime, plural, quoteWord } from '../../candles/text.js'
import * as f from '../../cli/fields.js'
import * as s from '../../cli/report.js'
import { exactTime } from '../../cli/terminal/text.js'
import type { LockCheck } from '../../identity/check-lock.js'
import type { FileFingerprint, RangeFingerprints } from '../../identity/fingerprint.js'
import type { LockReport } from '../../identity/lock.js'
import { ENDS, type EndChange, type YearChange } from '../../identity/lock-file.js'
import type { FingerprintReport, SeriesFingerprint } from '../../rows/fingerprint.js'

/** A fingerprint of the mirror, or of a file. */
type AnyFingerprint = SeriesFingerprint &
  Partial<Pick<FileFingerprint, 'file' | 'named'> & Pick<RangeFingerprints['series'][number], 'coverage'>>

/** `fingerprint`: a line for each series, as `sha256sum` prints them, and one for all. */
export const Fingerprint = s.report(
  'klines-fingerprint',
  {
    series: s.list(
      s.object({
        ...f.fingerprint,
        coverage: s.optional(f.coverage),
        file: s.optional(s.text('file or folder that the candles are in')),
        named: s.optional(s.flag('whether a file of doubles names the fingerprint, so that it was not computed')),
      }),
    ),
    set: f.set,
  },
  (result: FingerprintReport<AnyFingerprint>) => fingerprintLines(result).join('\n'),
)

/** The lines of fingerprints: `klines:1:9f2c...  BTCUSDT 1h  2,181 candles  2024-12-30 00:00 to 2025-03-30 23:00`. */
export function fingerprintLines({ series, set }: FingerprintReport<AnyFingerprint>): string[] {
  const lines = series.map(({ fingerprint, candles, firstOpenTime, lastOpenTime, named, ...label }) => {
    const parts = [fingerprint, nameOf(label), plural(candles, 'candle'), `${formatTime(firstOpenTime)} to`]
    const note = named ? '  named by the file, not computed from it' : ''
    return `${parts.join('  ')} ${formatTime(lastOpenTime)}${note}`
  })
  if (set === undefined) return lines
  return [...lines, [set, plural(series.length, 'series'), plural(f.sumOf(series, 'candles'), 'candle')].join('  ')]
}

const path = s.text('the lock file')
const range = s.object({
  from: s.integer('first open time, ms since the epoch, UTC'),
  to: s.integer('end of the open times, which is not part of them'),
})

export const LockSummary = s.report(
  'klines-lock',
  {
    path,
    baseUrl: f.baseUrl,
    mirror: f.mirror,
    series: s.list(s.object({ ...f.fingerprint, range })),
    set: f.set,
  },
  (result: LockReport) => {
    const { path, series } = result
    const written = `${path}: ${plural(series.length, 'series')}, ${plural(f.sumOf(series, 'candles'), 'candle')}.`
    return [...fingerprintLines(result), written].join('\n')
  },
)

const END_NAMES = { firstOpenTime: 'first candle', lastOpenTime: 'last candle', from: 'range from', to: 'range to' }

const locked = s.object({ fingerprint: s.text(), candles: s.count() })
const digest = s.maybe(
  s.object({ candles: s.count(), sha256: s.text() }),
  'of the candles of that year; null without one',
)

export const LockVerdict = s.report(
  'klines-lock-check',
  {
    path,
    baseUrl: f.baseUrl,
    mirror: f.mirror,
    verdict: s.oneOf(['equal', 'different', 'incomplete'], 'incomplete: nothing differs, and windows are missing'),
    series: s.list(
      s.object({
        ...f.seriesName,
        range,
        locked,
        found: s.maybe(locked, 'null without a candle in the range'),
        years: s.list(
          s.object({ year: s.integer(), locked: digest, found: digest }),
          'the years that differ, as far as all their windows are there',
        ),
        ends: s.list(
          s.object({ end: s.oneOf(ENDS), locked: s.integer(), found: s.integer() }),
          'ends that differ, of candles and of the range, ms since the epoch, UTC; none where windows are missing',
        ),
        missing: s.list(s.object(f.failure), 'windows that cannot be read'),
      }),
    ),
  },
  (check: LockCheck) => {
    const missing = check.series.flatMap(({ missing }) => missing)
    const lines = missing.map(({ window, reason }) => `  ${windowName(window)}: ${reason}`)
    const title = missing.length > 0 ? [`${plural(missing.length, 'window')} missing or corrupt:`] : []
    const all = [...checkLines(check), ...title, ...firstLines(lines, 20), ...sourceLines(check)]
    return [...all, `Mirror: ${check.mirror}`].join('\n')
  },
)

function sourceLines({ baseUrl }: LockCheck): string[] {
  return [`Source: ${baseUrl ?? 'unknown'}`, ...f.sourceNote(baseUrl)]
}

export function checkLines({ path, verdict, series }: Pick<LockCheck, 'path' | 'verdict' | 'series'>): string[] {
  if (verdict === 'equal') {
    const candles = plural(f.sum(series.map(({ locked }) => locked.candles)), 'candle')
    const [all, them] =
      series.length === 1 ? ['The one series is', 'it'] : [`All ${plural(series.length, 'series')} are`, 'them']
    return [`${all} exactly as ${path} has ${them}: ${candles}.`]
  }
  if (verdict === 'incomplete') return [`Windows are missing; what is there is as ${path} has it.`]
  const different = series.filter(one => one.isDifferent)
  const [are, them] = different.length === 1 ? ['is', 'it'] : ['are', 'them']
  return [
    `${formatCount(different.length)} of ${plural(series.length, 'series')} ${are} not as ${path} has ${them}:`,
    ...different.map(one => {
      return `  ${nameOf(one)}: ${[...one.years.map(describeYear), ...one.ends.map(describeEnd)].join('; ')}`
    }),
  ]
}

function describeEnd({ end, locked, found }: EndChange): string {
  return `${END_NAMES[end]} ${exactTime(found)} here, ${exactTime(locked)} in the lock`
}

function describeYear({ year, locked, found }: YearChange): string {
  if (locked?.candles === found?.candles) return `${year} has other values`
  const there = found === undefined ? 'no candle' : plural(found.candles, 'candle')
  return `${year} has ${there}, and ${formatCount(locked?.candles ?? 0)} locked`
}

/** The error of `download --lock` for other candles than those of the lock: their years, and every cell that the run saw change. */
export function lockDiffers(check: LockCheck, forExport: boolean): KlinesError {
  const { path, series, restated } = check
  const lines = checkLines(check)
  if (restated.length > 0) lines.push('Changed by the service since they were downloaded:', ...f.cellLines(restated))
  lines.push(...sourceLines(check), ...(forExport ? ['Nothing was exported.'] : []))
  const different = series.filter(one => one.isDifferent)
  const advice = `klines lock SYMBOL... -i INTERVAL... -o ${quoteWord(path)} --force locks the candles as they are now.`
  return new KlinesError('lock_differs', lines.join('\n'), {
    suggestions: [advice],
    data: {
      lock: path,
      series: different.map(({ symbol, interval, years, ends }) => {
        return { symbol, interval, years: years.map(({ year }) => year), ends }
      }),
      restated,
    },
  })
}
