import { countShort, isShort } from '../../../download/coverage.js'
import type { Difference } from '../../../klines/audit/compare-series.js'
import { nextOpenTime } from '../../../klines/intervals.js'
import { seriesName } from '../../../klines/series.js'
import { formatCount, plural } from '../../../klines/text.js'
import { findRules } from '../../../trees/find-rules.js'
import type { VerificationReport, VerifiedSeries } from '../../../verify/verify.js'
import { sum } from '../report.js'
import type { VerifyObject } from '../schema.js'
import { type CandleDifference, listFaults, mergeDifferences } from './candles.js'
import { mergeGaps, type Outage } from './outages.js'

/**
 * `short`: nothing is wrong with what is there, and less is there than was requested. `incomplete`: windows are missing, and nothing else
 * is wrong. `empty`: there is no candle to check.
 */
export type Verdict = VerifyObject['verdict']

/** A series, and how much of it is wrong. */
export interface SeriesVerdict {
  readonly report: VerifiedSeries
  readonly missingWindows: number
  readonly corruptWindows: number
  /** Candles that differ from their finer candles, notes apart. */
  readonly differing: number
  readonly invalid: number
  /** Gaps that count as failures. */
  readonly failingGaps: number
  /** Candles that are missing at the ends of the range, as far as the tree should have them by now. */
  readonly short: number
  /** Candles with differences that are notes, and candles that the exchange has off the grid. */
  readonly notes: number
}

/** What a verification has found, as it is shown. */
export interface Judgement {
  readonly verdict: Verdict
  /** Whether candles that are missing are failures. */
  readonly failsOnGaps: boolean
  readonly series: readonly SeriesVerdict[]
  /** The series with something wrong or missing. */
  readonly failing: readonly SeriesVerdict[]
  readonly differences: readonly CandleDifference[]
  readonly outages: readonly Outage[]
}

/** Judges a verification. Gaps are failures only with `failOnGaps`. */
export function judge({ series, range, baseUrl, ...found }: VerificationReport, failOnGaps: boolean): Judgement {
  const merged = mergeDifferences(withoutExplained(found.differences, series))
  const rules = findRules(baseUrl)
  const differing = countCandles(merged.filter(({ note }) => note === undefined))
  const notes = countCandles(merged.filter(({ note }) => note !== undefined))
  const verdicts = series.map(report => ({
    report,
    missingWindows: report.missingWindows.length,
    corruptWindows: report.corrupt.length,
    differing: differing.get(seriesName(report)) ?? 0,
    invalid: report.invalid,
    failingGaps: failOnGaps ? report.gaps.length : 0,
    short: range && isShort(report.coverage, range, rules) ? countShort(report.coverage) : 0,
    notes: (notes.get(seriesName(report)) ?? 0) + report.counts.old_off_grid,
  }))
  return {
    verdict: findVerdict(verdicts, failOnGaps),
    failsOnGaps: failOnGaps,
    series: verdicts,
    failing: verdicts.filter(one => isWrong(one) || one.missingWindows > 0 || (failOnGaps && one.short > 0)),
    differences: merged,
    outages: mergeGaps(series),
  }
}

function findVerdict(series: readonly SeriesVerdict[], failOnGaps: boolean): Verdict {
  if (series.some(isWrong)) return 'failed'
  if (series.some(({ missingWindows }) => missingWindows > 0)) return 'incomplete'
  if (series.every(({ report }) => report.candles === 0)) return 'empty'
  if (series.every(({ short }) => short === 0)) return 'ok'
  return failOnGaps ? 'failed' : 'short'
}

function isWrong({ corruptWindows, differing, invalid, failingGaps }: SeriesVerdict): boolean {
  return corruptWindows + differing + invalid + failingGaps > 0
}

/** The differences of candles none of whose finer candles is invalid: where one is, that one is wrong, not the longer candle beside it. */
function withoutExplained(differences: readonly Difference[], series: readonly VerifiedSeries[]): Difference[] {
  const invalid = new Map(
    series.map(report => [seriesName(report), listFaults(report).map(({ openTime }) => openTime)]),
  )
  return differences.filter(({ symbol, interval, finer, openTime }) => {
    const end = nextOpenTime(interval, openTime)
    return !invalid.get(seriesName({ symbol, interval: finer }))?.some(time => time >= openTime && time < end)
  })
}

/** The first line of the report: the verdict, and why. */
export function verdictLine({ series, pairs }: VerificationReport, judgement: Judgement): string {
  const { verdict, failing } = judgement
  if (verdict === 'empty') return `NO CANDLES: ${plural(series.length, 'series')}, all of them empty`
  const short = sum(judgement.series.map(one => one.short))
  if (verdict !== 'ok' && verdict !== 'short') {
    const count = (name: keyof Omit<SeriesVerdict, 'report'>) => sum(failing.map(one => one[name]))
    const [differing, invalid] = [count('differing'), count('invalid')]
    const [corrupt, missing, gaps] = [count('corruptWindows'), count('missingWindows'), count('failingGaps')]
    const reasons = [
      differing > 0 && `${plural(differing, 'candle')} ${differing === 1 ? 'differs' : 'differ'}`,
      invalid > 0 && `${differing > 0 ? formatCount(invalid) : plural(invalid, 'candle')} ${isOrAre(invalid)} invalid`,
      corrupt > 0 && `${plural(corrupt, 'window')} ${isOrAre(corrupt)} corrupt`,
      missing > 0 && `${corrupt > 0 ? formatCount(missing) : plural(missing, 'window')} ${isOrAre(missing)} missing`,
      gaps > 0 && plural(gaps, 'gap'),
      judgement.failsOnGaps && short > 0 && `${plural(short, 'candle')} fewer than requested`,
    ]
    const of = `${formatCount(failing.length)} of ${formatCount(series.length)} series`
    return `${verdict.toUpperCase()}: ${of}: ${reasons.filter(Boolean).join(', ')}`
  }
  const shared = judgement.outages.filter(({ isShared }) => isShared).length
  const gaps = judgement.outages.length - shared
  const notes = sum(judgement.series.map(one => one.notes))
  const facts = [
    `${formatCount(series.length)} series`,
    plural(sum(series.map(report => report.candles)), 'candle'),
    short > 0 && `${formatCount(short)} fewer than requested`,
    pairs.length > 0 && plural(sum(pairs.map(pair => pair.comparisons)), 'comparison'),
    shared > 0 && plural(shared, 'outage'),
    gaps > 0 && plural(gaps, 'gap'),
    notes > 0 && plural(notes, 'note'),
  ]
  return `${verdict.toUpperCase()}: ${facts.filter(Boolean).join(', ')}`
}

/** How many candles of each series have a difference. */
function countCandles(differences: readonly CandleDifference[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const candle of new Set(differences.map(one => `${seriesName(one)}@${one.openTime}`))) {
    const [name] = candle.split('@')
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
