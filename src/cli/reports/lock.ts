import { KlinesError } from '../../candles/errors.js'
import { seriesName as nameOf, windowName } from '../../candles/series.js'
import { formatCount, plural, quoteWord } from '../../candles/text.js'
import {
  type CheckedSeries,
  compareLocks,
  type LockChange,
  type LockCheck,
  type YearChange,
} from '../../identity/check-lock.js'
import type { LockReport } from '../../identity/lock.js'
import { reportFingerprints } from '../../rows/fingerprint.js'
import { SAMPLE } from '../../sources/base-url.js'
import { report } from '../report.js'
import { count, derived, flag, integer, list, maybe, object, oneOf, text } from '../schema.js'
import { firstLines } from '../terminal/text.js'
import { cellLines } from './changes.js'
import { baseUrl, failure, fingerprint, mirror, SYNTHETIC, seriesName, set, sum, sumOf } from './fields.js'
import { fingerprintLines } from './fingerprint.js'

/** Missing windows that a check lists. */
const MAX_MISSING = 20

const path = text('the lock file')
const range = object({
  from: integer('first open time, ms since the epoch, UTC'),
  to: integer('end of the open times, which is not part of them'),
})

/** `lock`: the fingerprints, and what changed in the file. */
export const LockSummary = report(
  'klines-lock',
  {
    path,
    baseUrl: derived(baseUrl, ({ source }: LockReport) => source),
    mirror,
    series: list(object({ ...fingerprint, range })),
    set: derived(set, ({ series }: LockReport) => reportFingerprints(series).set),
    replaced: derived(flag('whether there was another lock'), ({ replaced }: LockReport) => replaced !== undefined),
    changes: derived(
      list(
        object({
          ...seriesName,
          change: derived(oneOf(['added', 'removed', 'changed']), ({ before, after }: LockChange) => {
            return before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
          }),
          years: derived(list(integer(), 'the years whose candles differ'), yearsOf),
        }),
        'the series that differ from the lock that was replaced',
      ),
      changesOf,
    ),
  },
  (result: LockReport) => [...fingerprintLines(reportFingerprints(result.series)), ...fileLines(result)].join('\n'),
)

function changesOf(result: LockReport): LockChange[] {
  return result.replaced === undefined ? [] : compareLocks(result.replaced, result)
}

function yearsOf({ years }: { readonly years: readonly YearChange[] }): number[] {
  return years.map(({ year }) => year)
}

function fileLines(result: LockReport): string[] {
  const { path, series, source, replaced } = result
  const written = `${path}: ${plural(series.length, 'series')}, ${plural(sumOf(series, 'candles'), 'candle')}.`
  if (replaced === undefined) return [written]
  const from = replaced.source === source ? [] : [`  source: ${replaced.source ?? 'unknown'} -> ${source ?? 'unknown'}`]
  const lines = [...from, ...changesOf(result).map(change => `  ${describeChange(change)}`)]
  return lines.length === 0 ? [`${written} Nothing changed.`] : [written, 'Changed in the lock:', ...lines]
}

function describeChange(change: LockChange): string {
  const { before, after } = change
  const name = nameOf(change)
  if (after === undefined) return `${name}: removed`
  const candles = plural(after.candles, 'candle')
  if (before === undefined) return `${name}: added, ${candles}`
  return `${name}: ${formatCount(before.candles)} -> ${candles}; ${yearsOf(change).join(', ') || 'no year'} changed`
}

const locked = object({ fingerprint: text(), candles: count() })
const digest = maybe(object({ candles: count(), sha256: text() }), 'of the candles of that year; null without one')

/** `verify --lock`: the verdict first. */
export const LockVerdict = report(
  'klines-lock-check',
  {
    path,
    baseUrl: derived(baseUrl, ({ lock }: LockCheck) => lock.source),
    mirror,
    verdict: oneOf(['equal', 'different', 'incomplete'], 'incomplete: no year differs, and windows are missing'),
    series: list(
      object({
        ...seriesName,
        range: derived(range, ({ locked }: CheckedSeries) => locked.range),
        locked,
        found: maybe(locked, 'null without a candle in the range'),
        years: list(
          object({
            year: integer(),
            locked: derived(digest, ({ before }: YearChange) => before),
            found: derived(digest, ({ after }: YearChange) => after),
          }),
          'the years that differ, as far as all their windows are there',
        ),
        missing: list(object(failure), 'windows that cannot be read'),
      }),
    ),
  },
  (check: LockCheck) => {
    return [...checkLines(check), ...missingLines(check), ...sourceLines(check), `Mirror: ${check.mirror}`].join('\n')
  },
)

/** Whoever made the lock chose where the candles come from. */
function sourceLines({ lock: { source } }: LockCheck): string[] {
  return [`Source: ${source ?? 'unknown'}`, ...(source === SAMPLE ? [SYNTHETIC] : [])]
}

/** The verdict, and the years that differ. */
export function checkLines({ path, verdict, series }: Pick<LockCheck, 'path' | 'verdict' | 'series'>): string[] {
  if (verdict === 'equal') {
    const candles = plural(sum(series.map(({ locked }) => locked.candles)), 'candle')
    const all = series.length === 1 ? 'The one series is' : `All ${plural(series.length, 'series')} are`
    return [`${all} exactly as ${path} has ${series.length === 1 ? 'it' : 'them'}: ${candles}.`]
  }
  if (verdict === 'incomplete') return [`Windows are missing; what is there is as ${path} has it.`]
  const different = series.filter(({ years }) => years.length > 0)
  const [are, them] = different.length === 1 ? ['is', 'it'] : ['are', 'them']
  return [
    `${formatCount(different.length)} of ${plural(series.length, 'series')} ${are} not as ${path} has ${them}:`,
    ...different.map(one => `  ${nameOf(one)}: ${one.years.map(describeYear).join('; ')}`),
  ]
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
  if (restated.length > 0) lines.push('Changed by the service since they were downloaded:', ...cellLines(restated))
  lines.push(...sourceLines(check), ...(forExport ? ['Nothing was exported.'] : []))
  const different = series.filter(({ years }) => years.length > 0)
  return new KlinesError('lock_differs', lines.join('\n'), {
    suggestions: [
      `klines lock SYMBOL... -i INTERVAL... -o ${quoteWord(path)} --force locks the candles as they are now.`,
    ],
    data: {
      lock: path,
      series: different.map(one => ({ symbol: one.symbol, interval: one.interval, years: yearsOf(one) })),
      restated,
    },
  })
}
