import { KlinesError } from '../klines/errors.js'
import { isInterval } from '../klines/intervals.js'
import { checkMultiple, parseTargetInterval } from '../klines/resample/target-interval.js'
import type { Series, SeriesLabel } from '../klines/series.js'
import { isSymbol } from '../klines/symbols.js'

/** A series of an output, and the one that it is made of: the same one, or one of a finer interval. */
export interface MadeSeries extends SeriesLabel {
  readonly source: Series
}

/** The series of a request as a file or a lake remembers them, instead of those that names stand for. */
export interface MadeRequest {
  readonly made?: readonly MadeSeries[] | undefined
}

/** As a file keeps it: `BTCUSDT 1h`, or `BTCUSDT 3h 1h` for one that is made of 1h. */
export function formatMade({ symbol, interval, source }: MadeSeries): string {
  return [symbol, interval, ...(source.interval === interval ? [] : [source.interval])].join(' ')
}

/** A series that a foreign file names. Throws `bad_output` for what cannot be one. */
export function parseMade(symbol: unknown, interval: unknown, source: unknown): MadeSeries {
  if (isSymbol(symbol) && isInterval(source) && typeof interval === 'string') {
    if (interval !== source) checkMultiple(parseTargetInterval(interval), source)
    return { symbol, interval, source: { symbol, interval: source } }
  }
  throw new KlinesError('bad_output', `${JSON.stringify([symbol, interval, source])} is no series`)
}

/** What selects the series that these are made of, and these of all. */
export function selectMade(made: readonly MadeSeries[]) {
  const symbols = [...new Set(made.map(({ symbol }) => symbol))]
  return { symbols, intervals: [...new Set(made.map(({ source }) => source.interval))], made }
}
