import { nextOpenTime } from '../candles/intervals.js'
import { type Series, seriesName } from '../candles/series.js'
import type { WindowSpan } from '../candles/windows.js'
import { sumOf } from '../mirror/status.js'
import { type Coverage, countShort } from '../rows/coverage.js'
import type { Difference } from './compare.js'
import type { SeriesFindings } from './series-reader.js'
import { addSpan, lengthOf, overlaps } from './spans.js'

/** `short`: nothing is wrong, and less is there than was requested. `incomplete`: windows are missing, and nothing else is wrong. */
type Verdict = 'ok' | 'short' | 'empty' | 'incomplete' | 'failed'

/** A time without candles in one or more series, ms UTC. */
export interface Outage extends WindowSpan {
  readonly series: readonly Series[]
  /** Whether several symbols lack candles: the exchange was down. */
  readonly isShared: boolean
}

type CoveredFindings = SeriesFindings & { readonly coverage: Coverage }

export type JudgedSeries = ReturnType<typeof judgeSeries>

/** A value that differs, and every finer interval that shows it. */
export type CandleDifference = Omit<Difference, 'finer'> & { readonly finer: readonly Difference['finer'][] }

export function judge(
  found: readonly CoveredFindings[],
  differences: readonly Difference[],
  { failOnGaps = false }: { readonly failOnGaps?: boolean | undefined },
) {
  /** What differs, each value once; of candles that are made of invalid ones only those are blamed. */
  const faults = mergeDifferences(withoutExplained(differences, found))
  const series = markOutages(found).map(one => judgeSeries(one, faults, failOnGaps))
  return { verdict: findVerdict(series, failOnGaps), failOnGaps, series, faults, outages: mergeGaps(series) }
}

function judgeSeries(
  one: ReturnType<typeof markOutages>[number],
  faults: readonly CandleDifference[],
  failOnGaps: boolean,
) {
  const counts = {
    missing: sumOf(one.gaps.map(({ missing }) => missing)),
    /** Candles that differ from their finer candles, notes apart. */
    differing: countCandles(faults, one, false),
    failingGaps: failOnGaps ? one.gaps.length : 0,
    /** Candles that are missing at the ends of the range that are named. */
    short: countShort(one.coverage),
    /** Candles with differences that are notes, and candles that the exchange has off the grid. */
    notes: countCandles(faults, one, true) + one.counts.offGrid,
  }
  const isWanting = one.missingWindows.length > 0 || (failOnGaps && counts.short > 0)
  return { ...one, ...counts, isFailing: isWanting || isWrong({ ...one, ...counts }) }
}

function findVerdict(series: readonly JudgedSeries[], failOnGaps: boolean): Verdict {
  if (series.some(isWrong)) return 'failed'
  if (series.some(({ missingWindows }) => missingWindows.length > 0)) return 'incomplete'
  if (series.every(({ candles }) => candles === 0)) return 'empty'
  if (series.every(({ short }) => short === 0)) return 'ok'
  return failOnGaps ? 'failed' : 'short'
}

function isWrong(one: SeriesFindings & { readonly differing: number; readonly failingGaps: number }): boolean {
  return one.corrupt.length + one.differing + one.counts.invalid + one.failingGaps > 0
}

/** The differences of candles without an invalid finer candle: where there is one, that one is wrong. */
function withoutExplained(differences: readonly Difference[], series: readonly SeriesFindings[]): Difference[] {
  const invalid = new Map(series.map(one => [seriesName(one), one.faults.map(({ openTime }) => openTime)]))
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

function countCandles(all: readonly CandleDifference[], { symbol, interval }: Series, isNote: boolean): number {
  const own = all.filter(one => one.symbol === symbol && one.interval === interval)
  return new Set(own.flatMap(({ note, openTime }) => ((note !== undefined) === isNote ? openTime : []))).size
}

/** Marks the gaps (`outage`) during at least half of which another symbol, at any interval, lacks candles too. */
function markOutages(all: readonly CoveredFindings[]) {
  const gaps = all
    .flatMap(({ symbol, gaps }) => gaps.map(gap => ({ symbol, ...gap })))
    .sort((a, b) => a.startTime - b.startTime)
  return all.map(series => {
    const lacking: WindowSpan[] = []
    for (const gap of gaps) if (gap.symbol !== series.symbol) addSpan(lacking, gap)
    const isOutage = (gap: WindowSpan) => 2 * lengthOf(overlaps([gap], lacking)) >= lengthOf([gap])
    return { ...series, gaps: series.gaps.map(gap => ({ ...gap, outage: isOutage(gap) })) }
  })
}

/** Merges the gaps that overlap, outages with outages and other gaps with those of their symbol; ascending. */
function mergeGaps(all: readonly JudgedSeries[]): Outage[] {
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
