import { exchangeMayHaveMore, marketOf, SAMPLE } from '../candles/base-url.js'
import { COLUMNS } from '../candles/columns.js'
import { addLengths } from '../candles/intervals.js'
import type { SeriesLabel, WindowRef } from '../candles/series.js'
import { firstLines, formatDuration, formatTime, plural } from '../candles/text.js'
import { describeRequested, MAY_LAG_MS, type RequestedRange, type TimeRange } from '../candles/time-range.js'
import { CHANGES_FILE } from '../mirror/changes.js'
import { sumOf as sum } from '../mirror/status.js'
import { type Coverage, type CoveredSeries, countShort, describeLacks, linesOf } from '../rows/coverage.js'
import type { ChangedCell } from '../rows/diff.js'
import { parseTargetInterval } from '../rows/target-interval.js'
import * as s from './report.js'
import { candleName, describeCell } from './terminal/text.js'

export const seriesName = { symbol: s.column('symbol', s.text()), interval: s.column('interval', s.text()) }
export const mirror = s.text('folder of the mirror')
export const baseUrl = s.maybe(s.text(), 'base address that the candles come from; null for a tree without mirror.json')
export const sample = s.derived(
  s.flag('whether the candles are the synthetic sample data'),
  (result: { readonly baseUrl?: string | undefined }) => result.baseUrl === SAMPLE,
)
export const range = s.object({
  from: s.derived(s.time(), ({ fromTime }: TimeRange) => fromTime),
  to: s.derived(s.time(), ({ toTime }: TimeRange) => toTime),
})
export const location = { baseUrl, sample, mirror, range }

export const changedCell = s.object({
  openTime: s.integer(),
  column: s.oneOf(COLUMNS),
  before: s.maybe(s.text(), 'null for a candle that was added'),
  after: s.maybe(s.text(), 'null for one that was withdrawn'),
})

export const coverage = s.object({
  interval: s.text('the length of the candles that are counted, of a resampled series the new one'),
  requested: s.object({ from: s.time(), to: s.time() }),
  first: s.time(),
  last: s.time(),
  shortAtStart: s.count('closed candles of the range that are missing before the first one'),
  shortAtEnd: s.count('closed candles of the range that are missing after the last one'),
  listedFrom: s.optional(
    s.derived(
      s.text("first start date of the source's list, where candles are short because the range begins before it"),
      ({ list }: Coverage) => list?.from,
    ),
  ),
})

export const fingerprint = {
  ...seriesName,
  fingerprint: s.text('klines:1: and a SHA-256 in hex'),
  candles: s.count(),
  firstOpenTime: s.integer(),
  lastOpenTime: s.integer(),
  years: s.list(
    s.object({
      year: s.integer(),
      candles: s.count(),
      sha256: s.text('of the lines of the candles that open in that year, UTC'),
    }),
    'the years that have candles',
  ),
}
export const set = s.maybe(s.text(), 'fingerprint of all series, from two on: klines:1:set: and a SHA-256 in hex')

export const failure = {
  startDate: s.derived(s.text(), (failure: { readonly window: WindowRef }) => failure.window.startDate),
  reason: s.text(),
}

const SYNTHETIC = 'These candles are synthetic sample data, not prices of any exchange.'

export const noTradeSince = s.optional(s.time())

/** What the names of symbols do not say of the candles of a source. */
export function sourceNote(baseUrl?: string | null): string[] {
  const { badge } = marketOf(baseUrl ?? undefined) ?? {}
  return baseUrl === SAMPLE ? [SYNTHETIC] : badge ? [`The market is ${badge} of Binance.`] : []
}

export { sum }

export function sumOf<Key extends string>(all: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return sum(all.map(one => one[key]))
}

const MAX_LISTED = 4
/** Changed cells that the summary of a run shows. */
const MAX_CELLS = 5

interface CoverageDetails {
  readonly range: RequestedRange
  readonly baseUrl: string | undefined
  readonly verbose: boolean
  /** The candles of a file: its source is not known. */
  readonly isFile?: boolean
}

type Covered = Pick<CoveredSeries, 'symbol' | 'interval' | 'coverage'> & { readonly noTradeSince?: number | undefined }

/** The series that have less than was requested, what may have more, and contracts that have ended; undefined when all is there. */
export function coverageText(series: readonly Covered[], details: CoverageDetails): string | undefined {
  return [...lackLines(series, details), ...idleLines(series)].join('\n') || undefined
}

/** Each contract that has ended once. */
function idleLines(series: readonly Covered[]): string[] {
  const since = new Map<string, number>()
  for (const { symbol, noTradeSince = Infinity } of series)
    if (noTradeSince < (since.get(symbol) ?? Infinity)) since.set(symbol, noTradeSince)
  const lines = [...since].map(([symbol, time]) => `${symbol} has had no trade since ${formatTime(time)} UTC.`)
  return firstLines(lines, MAX_LISTED, 'more; --json has all of them')
}

function lackLines(series: readonly Covered[], details: CoverageDetails): string[] {
  // Tables say what is missing between the candles.
  const ends = series.map(({ symbol, interval, coverage }) => ({ symbol, interval, coverage }))
  const short = ends.filter(({ coverage }) => countShort(coverage) > 0)
  if (short.length === 0) return []
  const advice = staleAdvice(series, details)
  const requested = `${describeRequested(details.range)};`
  const lines = series.length === 1 ? [describeLacks(short[0])] : linesOf(short)
  if (lines.length === 1) return [[`${requested} ${lines[0]}.`, ...advice].join(' ')]
  const listed = details.verbose ? lines : firstLines(lines, MAX_LISTED, 'more lines; --json has all of them')
  return [`${requested} ${plural(short.length, 'series')} have less:`, ...listed, ...advice]
}

/** How old the newest candle is when that of a range up to the present is missing. */
function staleAdvice(series: readonly Covered[], { range, baseUrl, isFile }: CoverageDetails): string[] {
  const { named, now } = range
  if (isFile || named.to === undefined || named.to < now - MAY_LAG_MS || !exchangeMayHaveMore(baseUrl)) return []
  const ends = series.flatMap(({ coverage: { interval, last } }) => {
    return last === undefined ? [] : [addLengths(parseTargetInterval(interval).length, last)]
  })
  const age = now - Math.max(...ends)
  if (ends.length === 0 || age < MAY_LAG_MS) return []
  return [`The newest candle of this source is ${formatDuration(age)} old; --base-url binance may have newer ones.`]
}

/** The cells of some series that a run changed: the first five, and where the others are. */
export function restatedLines(
  series: readonly (SeriesLabel & { readonly restated: number; readonly changes: readonly ChangedCell[] })[],
): string[] {
  const restated = sumOf(series, 'restated')
  if (restated === 0) return []
  // A candle that fills a gap is a new one.
  const cells = series.flatMap(({ symbol, interval, changes }) =>
    changes.filter(({ before }) => before !== null).map(cell => ({ symbol, interval, ...cell })),
  )
  return [
    `${plural(restated, 'cached candle')} changed:`,
    ...cellLines(cells.slice(0, MAX_CELLS)),
    ...(cells.length > MAX_CELLS ? [`  and more; ${CHANGES_FILE} in the mirror has all of them.`] : []),
  ]
}

export function cellLines(cells: readonly (SeriesLabel & ChangedCell)[]): string[] {
  let latest = ''
  return cells.flatMap(cell => {
    const candle = candleName(cell)
    const heading = candle === latest ? [] : [`  ${candle}`]
    latest = candle
    return [...heading, `    ${describeCell(cell)}`]
  })
}
