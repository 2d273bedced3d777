import type { SeriesFingerprint, YearDigest } from '../fingerprint/fingerprint.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import type { Lock, LockedSeries } from './lock-file.js'

/** The candles of a year in two versions of a series; undefined where there are none. */
export interface YearChange {
  readonly year: number
  readonly before: YearDigest | undefined
  readonly after: YearDigest | undefined
}

/** The years whose candles differ, ascending. */
export function compareYears(
  before: Pick<SeriesFingerprint, 'years'> | undefined,
  after: Pick<SeriesFingerprint, 'years'> | undefined,
): YearChange[] {
  const years = [...new Set([...(before?.years ?? []), ...(after?.years ?? [])].map(({ year }) => year))].sort()
  const find = (all: typeof before, year: number) => all?.years.find(digest => digest.year === year)
  return years
    .map(year => ({ year, before: find(before, year), after: find(after, year) }))
    .filter(({ before, after }) => before?.sha256 !== after?.sha256)
}

/** A series that differs between two locks; undefined in the one that lacks it. */
export interface LockChange extends SeriesLabel {
  readonly before: LockedSeries | undefined
  readonly after: LockedSeries | undefined
  readonly years: readonly YearChange[]
}

/** The series that differ between two locks, in order. */
export function compareLocks(before: Lock, after: Lock): LockChange[] {
  const [old, next] = [before, after].map(({ series }) => new Map(series.map(one => [seriesName(one), one])))
  return [...new Set([...old.keys(), ...next.keys()])].sort().flatMap(name => {
    const [a, b] = [old.get(name), next.get(name)]
    const series = a ?? b
    if (series === undefined || (a?.fingerprint === b?.fingerprint && a?.range.to === b?.range.to)) return []
    const { symbol, interval } = series
    return { symbol, interval, before: a, after: b, years: compareYears(a, b) }
  })
}
