import { nextOpenTime } from '../candles/intervals.js'
import { type Series, seriesName } from '../candles/series.js'
import type { WindowSpan } from '../candles/windows.js'
import { type Coverage, countShort } from '../engine/coverage.js'
import type { Gap } from '../rows/gaps.js'
import type { Difference } from './compare.js'
import { listFaults } from './inspect.js'
import type { SeriesFindings } from './series-reader.js'
import { addSpan, lengthOf, overlaps } from './spans.js'

/**
 * `short`: nothing is wrong with what is there, and less is there than was requested. `incomplete`: windows are
 * missing, and nothing else is wrong. `empty`: there is no candle to check.
 */
export type Verdict = 'ok' | 'short' | 'empty' | 'incomplete' | 'failed'

/** A gap. `outage`: another symbol lacks candles at the same time, for half of it or more: the exchange was down. */
export type OutageGap = Gap & { readonly outage: boolean }

/** A time without candles in one or more series, ms UTC. */
export interface Outage extends WindowSpan {
  readonly series: readonly Series[]
  /** Whether several symbols lack candles: the exchange was down. */
  readonly isShared: boolean
}

/** The findings for a series, and how much of the requested range it has. */
export interface VerifiedSeries extends Omit<SeriesFindings, 'gaps' | 'begin'> {
  readonly gaps: readonly OutageGap[]
  readonly coverage: Coverage
}

/** A series, and how much of it is wrong. */
export interface JudgedSeries extends VerifiedSeries {
  /** Candles that differ from their finer candles, notes apart. */
  readonly differing: number
  /** Gaps that count as failures. */
  readonly failingGaps: number
  /** Candles that are missing at the ends of the range that are named. */
  readonly short: number
  /** Candles with differences that are notes, and candles that the exchange has off the grid. */
  readonly notes: number
  /** Whether something is wrong or missing. */
  readonly isFailing: boolean
}

/** What a verification comes to. */
export interface Judgement {
  readonly verdict: Verdict
  /** Whether candles that are missing are failures. */
  readonly failOnGaps: boolean
  readonly series: readonly JudgedSeries[]
  /** What differs, each value once; of candles that are made of invalid ones only those are blamed. */
  readonly faults: readonly CandleDifference[]
  /** Gaps, merged where they overlap. */
  readonly outages: readonly Outage[]
}

/** A value that differs, and every finer interval that shows it. */
export type CandleDifference = Omit<Difference, 'finer'> & { readonly finer: readonly Difference['finer'][] }

/** Judges what was found. */
export function judge(
  series: readonly VerifiedSeries[],
  differences: readonly Difference[],
  { failOnGaps = false }: { readonly failOnGaps?: boolean | undefined },
): Judgement {
  const faults = mergeDifferences(withoutExplained(differences, series))
  const judged = series.map(one => {
    const short = countShort(one.coverage)
    const counts = {
      differing: countCandles(faults, one, false),
      failingGaps: failOnGaps ? one.gaps.length : 0,
      short,
      notes: countCandles(faults, one, true) + one.counts.old_off_grid,
    }
    const isFailing = isWrong({ ...one, ...counts }) || one.missingWindows.length > 0 || (failOnGaps && short > 0)
    return { ...one, ...counts, isFailing }
  })
  return { verdict: findVerdict(judged, failOnGaps), failOnGaps, series: judged, faults, outages: mergeGaps(series) }
}

function findVerdict(series: readonly JudgedSeries[], failOnGaps: boolean): Verdict {
  if (series.some(isWrong)) return 'failed'
  if (series.some(({ missingWindows }) => missingWindows.length > 0)) return 'incomplete'
  if (series.every(({ candles }) => candles === 0)) return 'empty'
  if (series.every(({ short }) => short === 0)) return 'ok'
  return failOnGaps ? 'failed' : 'short'
}

function isWrong({ corrupt, differing, invalid, failingGaps }: Omit<JudgedSeries, 'isFailing'>): boolean {
  return corrupt.length + differing + invalid + failingGaps > 0
}

/** The differences of candles without an invalid finer candle: where there is one, that one is wrong. */
function withoutExplained(differences: readonly Difference[], series: readonly VerifiedSeries[]): Difference[] {
  const invalid = new Map(series.map(one => [seriesName(one), listFaults(one).map(({ openTime }) => openTime)]))
  return differences.filter(({ symbol, interval, finer, openTime }) => {
    const end = nextOpenTime(interval, openTime)
    return !invalid.get(seriesName({ symbol, interval: finer }))?.some(time => time >= openTime && time < end)
  })
}

/** Merges the same difference from several finer intervals; order stays. */
function mergeDifferences(differences: readonly Difference[]): CandleDifference[] {
  const merged = new Map<string, CandleDifference>()
  for (const { finer, ...difference } of differences) {
    const key = Object.values(difference).join()
    merged.set(key, { ...difference, finer: [...(merged.get(key)?.finer ?? []), finer] })
  }
  return [...merged.values()]
}

/** How many candles of a series have a difference that is a note, or one that is none. */
function countCandles(all: readonly CandleDifference[], { symbol, interval }: Series, isNote: boolean): number {
  const differences = all.filter(({ note }) => (note !== undefined) === isNote)
  const own = differences.filter(one => one.symbol === symbol && one.interval === interval)
  return new Set(own.map(({ openTime }) => openTime)).size
}

/** Marks the gaps during at least half of which another symbol, at any interval, lacks candles too. */
export function markOutages(all: readonly SeriesFindings[]): (Omit<SeriesFindings, 'gaps'> & { gaps: OutageGap[] })[] {
  const gaps = all
    .flatMap(({ symbol, gaps }) => gaps.map(({ startTime, endTime }) => ({ symbol, startTime, endTime })))
    .sort((a, b) => a.startTime - b.startTime)
  return all.map(series => {
    /** When any other symbol lacks candles. */
    const lacking: WindowSpan[] = []
    for (const gap of gaps) if (gap.symbol !== series.symbol) addSpan(lacking, gap)
    const isOutage = (gap: WindowSpan) => 2 * lengthOf(overlaps([gap], lacking)) >= lengthOf([gap])
    return { ...series, gaps: series.gaps.map(gap => ({ ...gap, outage: isOutage(gap) })) }
  })
}

/** Merges the gaps that overlap, outages with outages and other gaps with those of their symbol; ascending. */
function mergeGaps(all: readonly VerifiedSeries[]): Outage[] {
  const merged: { startTime: number; endTime: number; isShared: boolean; series: Series[] }[] = []
  const latest = new Map<string, (typeof merged)[number]>()
  const gaps = all.flatMap(({ symbol, interval, gaps }) => gaps.map(gap => ({ ...gap, one: { symbol, interval } })))
  for (const { startTime, endTime, outage: isShared, one } of gaps.toSorted((a, b) => a.startTime - b.startTime)) {
    const name = isShared ? 'shared' : one.symbol
    const last = latest.get(name)
    if (last === undefined || startTime >= last.endTime) {
      const outage = { startTime, endTime, isShared, series: [one] }
      latest.set(name, outage)
      merged.push(outage)
    } else {
      last.endTime = Math.max(last.endTime, endTime)
      if (!last.series.some(other => seriesName(other) === seriesName(one))) last.series.push(one)
    }
  }
  return merged
}
