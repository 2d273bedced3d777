import { reportFingerprints, type YearDigest } from '../../fingerprint/fingerprint.js'
import {
  type CheckedSeries,
  compareLocks,
  type LockChange,
  type LockCheck,
  type YearChange,
} from '../../identity/check-lock.js'
import type { LockReport } from '../../identity/lock.js'
import type { Lock } from '../../identity/lock-file.js'
import { KlinesError } from '../../klines/errors.js'
import { seriesName, windowName } from '../../klines/series.js'
import { formatCount, plural, quoteWord } from '../../klines/text.js'
import { SAMPLE } from '../../sources/base-url.js'
import { firstLines } from '../terminal/text.js'
import { cellLines } from './changes.js'
import { fingerprintLines, toFingerprintsObject } from './fingerprint.js'
import { type Report, sum } from './report.js'
import { runReport } from './run.js'
import { type RunDetails, type RunResult, SYNTHETIC } from './run-text.js'
import type { LockCheckObject, LockObject, RunObject } from './schema.js'

/** Missing windows that a check lists. */
const MAX_MISSING = 20

/** `lock`: the fingerprints, and what changed in the file. */
export function lockReport(report: LockReport): Report<LockObject> {
  const { path, source, mirror, series, replaced } = report
  const changes = replaced === undefined ? [] : compareLocks(replaced, report)
  const fingerprints = reportFingerprints(series)
  const objects = toFingerprintsObject(fingerprints)
  const json = {
    ...{ path, baseUrl: source, mirror },
    series: objects.series.map((one, index) => ({ ...one, range: series[index].range })),
    set: objects.set,
    replaced: replaced !== undefined,
    changes: changes.map(({ symbol, interval, before, after, years }) => {
      const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
      return { symbol, interval, change, years: years.map(({ year }) => year) } as const
    }),
  }
  return {
    json,
    text: () => [...fingerprintLines(fingerprints), ...fileLines(report, changes)].join('\n'),
  }
}

function fileLines({ path, series, source, replaced }: LockReport, changes: readonly LockChange[]): string[] {
  const candles = plural(sum(series.map(({ candles }) => candles)), 'candle')
  const written = `${path}: ${plural(series.length, 'series')}, ${candles}.`
  if (replaced === undefined) return [written]
  const from = replaced.source === source ? [] : [`  source: ${replaced.source ?? 'unknown'} -> ${source ?? 'unknown'}`]
  const lines = [...from, ...changes.map(change => `  ${describeChange(change)}`)]
  return lines.length === 0 ? [`${written} Nothing changed.`] : [written, 'Changed in the lock:', ...lines]
}

function describeChange(change: LockChange): string {
  const { before, after, years } = change
  const name = seriesName(change)
  if (after === undefined) return `${name}: removed`
  const candles = plural(after.candles, 'candle')
  if (before === undefined) return `${name}: added, ${candles}`
  return `${name}: ${formatCount(before.candles)} -> ${candles}; ${years.map(({ year }) => year).join(', ') || 'no year'} changed`
}

/** `verify --lock`: the verdict first. */
export function lockCheckReport(check: LockCheck): Report<LockCheckObject> {
  const { path, lock, mirror, verdict, series } = check
  const toDigest = (digest: YearDigest | undefined) =>
    digest === undefined ? null : { candles: digest.candles, sha256: digest.sha256 }
  const json = {
    ...{ path, baseUrl: lock.source, mirror, verdict },
    series: series.map(({ symbol, interval, locked, found, years, missing }) => ({
      ...{ symbol, interval, range: locked.range },
      locked: { fingerprint: locked.fingerprint, candles: locked.candles },
      found: found === undefined ? null : { fingerprint: found.fingerprint, candles: found.candles },
      years: years.map(({ year, before, after }) => ({ year, locked: toDigest(before), found: toDigest(after) })),
      missing: missing.map(({ window, reason }) => ({ startDate: window.startDate, reason })),
    })),
  }
  const location = [...sourceLines(lock), `Mirror: ${mirror}`]
  return { json, text: () => [...checkLines(check), ...missingLines(check), ...location].join('\n') }
}

/** Whoever made the lock chose where the candles come from. */
function sourceLines({ source }: Lock): string[] {
  return [`Source: ${source ?? 'unknown'}`, ...(source === SAMPLE ? [SYNTHETIC] : [])]
}

/** The verdict, and the years that differ. */
function checkLines({ path, verdict, series }: Pick<LockCheck, 'path' | 'verdict' | 'series'>): string[] {
  if (verdict === 'equal') {
    const candles = plural(sum(series.map(({ locked }) => locked.candles)), 'candle')
    const all = series.length === 1 ? 'The one series is' : `All ${plural(series.length, 'series')} are`
    return [`${all} exactly as ${path} has ${series.length === 1 ? 'it' : 'them'}: ${candles}.`]
  }
  if (verdict === 'incomplete') return [`Windows are missing; what is there is as ${path} has it.`]
  const different = series.filter(({ years }) => years.length > 0)
  const are = different.length === 1 ? 'is' : 'are'
  return [
    `${formatCount(different.length)} of ${plural(series.length, 'series')} ${are} not as ${path} has ${different.length === 1 ? 'it' : 'them'}:`,
    ...different.map(one => `  ${seriesName(one)}: ${describeYears(one)}`),
  ]
}

function describeYears({ years }: CheckedSeries): string {
  return years.map(describeYear).join('; ')
}

function describeYear({ year, before, after }: YearChange): string {
  if (after === undefined) return `${year} has no candle, and ${formatCount(before?.candles ?? 0)} locked`
  if (before?.candles === after.candles) return `${year} has other values`
  return `${year} has ${plural(after.candles, 'candle')}, and ${formatCount(before?.candles ?? 0)} locked`
}

function missingLines({ series }: LockCheck): string[] {
  const missing = series.flatMap(({ missing }) => missing)
  if (missing.length === 0) return []
  const lines = missing.map(({ window, reason }) => `${windowName(window)}: ${reason}`)
  const listed = firstLines(lines, MAX_MISSING).map(line => `  ${line}`)
  return [`${plural(missing.length, 'window')} missing or corrupt:`, ...listed]
}

/** The error of `download --lock` for other candles than those of the lock: their years, and every cell that the run saw change. */
export function lockDiffers(check: LockCheck, forExport: boolean): KlinesError {
  const { path, series, restated } = check
  const lines = checkLines(check)
  if (restated.length > 0) {
    lines.push('Changed by the service since they were downloaded:', ...cellLines(restated))
  }
  lines.push(...sourceLines(check.lock), ...(forExport ? ['Nothing was exported.'] : []))
  const different = series.filter(({ years }) => years.length > 0)
  return new KlinesError('lock_differs', lines.join('\n'), {
    suggestions: [
      `klines lock SYMBOL... -i INTERVAL... -o ${quoteWord(path)} --force locks the candles as they are now.`,
    ],
    data: {
      lock: path,
      series: different.map(({ symbol, interval, years }) => ({
        ...{ symbol, interval },
        years: years.map(({ year }) => year),
      })),
      restated,
    },
  })
}

/** `download --lock` with the same candles, and the files that were made of them. */
export function lockedRunReport(
  check: LockCheck,
  files: RunResult['files'],
  details: RunDetails & { readonly fingerprint: boolean },
): Report<RunObject> {
  const { path, lock, download } = check
  if (download === undefined) throw new Error('A lock has candles.')
  const found = reportFingerprints(check.series.flatMap(({ found }) => found ?? []))
  const run = runReport({ ...download, files, ...(details.fingerprint && { fingerprints: found }) }, details)
  const json = { ...run.json, lock: { path, series: lock.series.length } }
  const source = `Source: ${download.baseUrl}`
  return { json, text: () => [...checkLines(check), source, '', run.text()].join('\n') }
}
