import { INTERVALS } from '../../klines/intervals.js'
import { startDatesPath } from '../../klines/paths.js'
import type { Series } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import type { Mirror } from '../../mirror/mirror.js'
import { mirrorStatus, type SeriesStatus, seriesStatus } from '../../mirror/status.js'
import { planVerification } from '../../verify/plan.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import { describeSource, type MirrorSourceFacts } from './source.js'

/** What a mirror has of a series, by the names and sizes of its files: no file is read. */
export interface SeriesCoverage extends SeriesStatus {
  /** Windows between the first and the last cached one that have no file and may have candles. */
  readonly missing: number
}

/** What a server has. */
export interface Coverage {
  readonly source: MirrorSourceFacts
  /** Whether missing windows are downloaded on request. */
  readonly upstream: boolean
  /** The present, ms UTC. */
  readonly now: number
  readonly intervals: typeof INTERVALS
  /** Those with cached windows come first. */
  readonly symbols: readonly SymbolName[]
  /** When a list was last fetched, ms UTC: the time of the newest file of a list; undefined without one. */
  readonly updatedTime: number | undefined
  /** Every series with a cached window. */
  readonly series: readonly SeriesCoverage[]
}

/** What the server of a tree has at `now` (ms UTC). */
export async function findCoverage({ mirror, upstream }: Tree, now: number): Promise<Coverage> {
  const series = await countMissing(mirror, mirrorStatus(mirror), now)
  const symbols = [...new Set([...mirror.symbols(), ...listSymbols(mirror)])]
  const updatedTime = findUpdatedTime(mirror)
  return {
    source: describeSource(mirror),
    upstream: upstream !== undefined,
    now,
    intervals: INTERVALS,
    symbols,
    updatedTime,
    series,
  }
}

/** One series, cached or not, for a page that loads its windows. */
export interface OneSeriesCoverage extends SeriesCoverage, Pick<Coverage, 'upstream' | 'now'> {
  /** Whether the mirror knows the symbol. */
  readonly known: boolean
  /** The windows that `missing` counts. */
  readonly missingStartDates: readonly string[]
}

/** What the server of a tree has of one series at `now` (ms UTC). */
export async function findSeriesCoverage(tree: Tree, series: Series, now: number): Promise<OneSeriesCoverage> {
  const { mirror } = tree
  const status = seriesStatus(mirror, series)
  // Before the first download with an upstream there is no mirror to plan with.
  const plans = status.windows > 0 ? await planVerification(mirror, [series], { now, warn: () => {} }) : []
  const cached = new Set(mirror.cachedStartDates(series))
  const planned = mirror.covers(series) ? [] : plans.flatMap(({ startDates }) => startDates)
  const missingStartDates = planned.filter(startDate => !cached.has(startDate))
  const known = mirror.hasSymbol(series.symbol)
  return {
    ...status,
    missing: missingStartDates.length,
    known,
    missingStartDates,
    upstream: tree.upstream !== undefined,
    now,
  }
}

async function countMissing(mirror: Mirror, status: readonly SeriesStatus[], now: number): Promise<SeriesCoverage[]> {
  const plans = await planVerification(mirror, status, { now, warn: () => {} })
  return status.map((series, index) => {
    const missing = mirror.covers(series) ? 0 : plans[index].startDates.length - series.windows
    return { ...series, missing }
  })
}

function findUpdatedTime(mirror: Mirror): number | undefined {
  const times = INTERVALS.flatMap(interval => mirror.version(startDatesPath(interval))?.mtimeMs ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}
