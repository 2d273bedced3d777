import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isExchange, SAMPLE } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { namesSymbols, parseSelection, takesSymbol } from '../candles/selection.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import { parseRequestedRange, type RangeText, type RequestedRange, type TimeRange } from '../candles/time-range.js'
import type { SourceOptions } from '../engine/run.js'
import { isFolder } from '../formats/read/errors.js'
import { META_FILE } from '../mirror/file-store.js'
import { intervalName } from '../rows/target-interval.js'
import { compareCandles, type SideName } from './compare-candles.js'
import { type DiffSide, openFileSide, openTreeSide } from './sides.js'

/** What is compared. */
export interface DiffRequest extends RangeText, Omit<SourceOptions, 'baseUrl' | 'mirror'> {
  /** Two mirrors, lakes, files, or services: `binance`, or a base address. */
  readonly sides: readonly [string, string]
  /** Default: all. */
  readonly symbols?: readonly string[]
  /** Also those of resampled candles. Default: all. */
  readonly intervals?: readonly string[]
  /** How many differences of each series are listed; all are counted. */
  readonly most: number
}

/** What a comparison of two sides has found. */
export type DiffReport = Awaited<ReturnType<typeof diffKlines>>
export type ComparedSeries = DiffReport['series'][number]

/**
 * Compares the candles of two sides; a service is asked for each window, and nothing is stored. Throws `bad_input` and `damaged_input` for
 * files, `bad_option`, `window_missing` when no side has a series, and what `downloadKlines` throws.
 */
export async function diffKlines(request: DiffRequest) {
  const requested = parseRequestedRange(request, request.now ?? Date.now())
  const sides: DiffSide[] = []
  try {
    for (const side of request.sides) sides.push(await openSide(side, request, requested))
    const planned = selectSeries(sides, request).map(series => ({ series, range: rangeOf(sides, requested, series) }))
    for (const side of sides) await side.prepare?.(planned)
    const series = []
    const differences = []
    for (const [done, { series: label, range }] of planned.entries()) {
      // A service shows its windows.
      if (!request.sides.some(isService)) request.onEvent?.({ type: 'progress', done, total: planned.length })
      const [a, b] = sides.map(side => side.open(label, range))
      const named = namedRange(requested, range)
      const { differences: listed, ...counts } = await compareCandles(label.interval, { a, b }, request.most)
      differences.push(...listed.map(one => ({ ...label, ...one })))
      const failures = Object.entries({ a, b }).flatMap(([side, { failures }]) => {
        return failures().map(one => ({ side: side as SideName, ...one }))
      })
      const coverage = { a: named && a.coverage(named), b: named && b.coverage(named) }
      series.push({ ...label, ...counts, failures, coverage })
    }
    const [a, b] = sides.map(({ name, kind, baseUrl, finish }) => ({ name, kind, baseUrl, asked: finish?.() }))
    const isWhole = series.every(({ total }) => total <= request.most)
    return { verdict: judge(series), a, b, range: requested, series, isWhole, differences }
  } finally {
    for (const side of sides) await side.close?.()
  }
}

/** The range with the ends that were named for both sides; undefined without one. */
function namedRange(requested: RequestedRange, { toTime }: TimeRange): RequestedRange | undefined {
  const { from } = requested.named
  // An end that is that of the other side's candles was not named for this one.
  const to = toTime < requested.toTime ? undefined : requested.named.to
  return from === undefined && to === undefined ? undefined : { ...requested, named: { from, to } }
}

function judge(
  series: readonly { total: number; both: number; failures: readonly unknown[] }[],
): 'equal' | 'different' | 'incomplete' | 'empty' {
  if (series.some(({ total }) => total > 0)) return 'different'
  if (series.some(({ failures }) => failures.length > 0)) return 'incomplete'
  return series.every(({ both }) => both === 0) ? 'empty' : 'equal'
}

/** A service has candles for ever: an end that is not named is that of the other side's candles. */
function rangeOf(sides: readonly DiffSide[], range: TimeRange, series: SeriesLabel): TimeRange {
  const local = sides.filter(({ kind }) => kind !== 'service')
  if (local.length !== 1) return range
  const { fromTime, toTime } = local[0].span(series) ?? { fromTime: 0, toTime: 0 }
  return {
    fromTime: range.fromTime === -Infinity ? fromTime : range.fromTime,
    toTime: range.toTime === Infinity ? toTime : range.toTime,
  }
}

/**
 * The series that any side has; beside a file, those of the file. A series whose symbol and interval are named is compared wherever it is.
 * Throws `bad_option` for two services, unless symbols and intervals are named, `window_missing` when no side has what is named, and
 * `no_candles`.
 */
function selectSeries(sides: readonly DiffSide[], { symbols = [], intervals = [] }: DiffRequest): SeriesLabel[] {
  const files = sides.filter(({ kind }) => kind === 'file')
  const listed = files.length > 0 ? files : sides.filter(({ kind }) => kind === 'mirror')
  const selection = parseSelection({ symbols: symbols.length === 0 ? 'all' : symbols, intervals: 'all' })
  const isAll = intervals.length === 0 || intervals.some(text => text.toLowerCase() === 'all')
  const names = selection.symbols === 'all' ? [undefined] : selection.symbols
  const lengths = isAll ? [undefined] : [...new Set(intervals.map(intervalName))]
  const wanted = names.flatMap(symbol => lengths.map(interval => ({ symbol, interval })))
  if (listed.length === 0) {
    if (namesSymbols(selection) && !isAll) return wanted as SeriesLabel[]
    throw new KlinesError('bad_option', 'Two services are too large to compare all they have.', {
      suggestions: ['Name symbols and intervals, or a mirror, a lake or a file as one side.'],
    })
  }
  const isIn = ({ symbol, interval }: (typeof wanted)[number], one: SeriesLabel) =>
    (symbol === undefined || takesSymbol({ symbols: [symbol], intervals: 'all' }, one.symbol)) &&
    (interval === undefined || interval === one.interval)
  const asked = namesSymbols(selection) && !isAll ? sides : listed
  const all = new Map(asked.flatMap(({ series }) => series.map(one => [seriesName(one), one])))
  const found = [...all.values()].filter(one => wanted.some(pair => isIn(pair, one)))
  const lacking = wanted.filter(pair => !found.some(one => isIn(pair, one)))
  if (lacking.length === 0) return found
  const what = lacking.map(({ symbol, interval }) => [symbol, interval].filter(Boolean).join(' ')).join(', ')
  const place = asked.map(({ name }) => name).join(' or ')
  if (what === '') throw new KlinesError('no_candles', `There are no candles in ${place}.`)
  throw new KlinesError('window_missing', `There is no ${what} in ${place}.`, {
    suggestions: asked === sides ? [] : ['Name the symbol and the interval of a series to compare it wherever it is.'],
  })
}

/** Whether a name is that of a service; a file or a folder of that name is written with `./`. */
export function isService(name: string): boolean {
  return name === SAMPLE || isExchange(name) || /^[a-z][a-z0-9+.-]*:\/\//i.test(name)
}

async function openSide(name: string, request: DiffRequest, range: RequestedRange): Promise<DiffSide> {
  const { signal = new AbortController().signal } = request
  if (isService(name)) return openTreeSide(name, { ...request, baseUrl: name, mirror: undefined }, range)
  const isMirror = isFolder(name) && ['api/klines', META_FILE].some(path => existsSync(join(name, path)))
  return isMirror ? openTreeSide(name, { ...request, mirror: name, offline: true }, range) : openFileSide(name, signal)
}
