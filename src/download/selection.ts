import { KlinesError } from '../klines/errors.js'
import { INTERVALS, type Interval, parseInterval } from '../klines/intervals.js'
import type { Series } from '../klines/series.js'
import { parseSymbol, type SymbolName } from '../klines/symbols.js'

/** What is asked for: names, or all there are. */
export interface Selection {
  readonly symbols: readonly SymbolName[] | 'all'
  readonly intervals: readonly Interval[] | 'all'
}

/**
 * The symbols and intervals that people wrote; `all` among them means all. Repetitions count once, order stays.
 * Throws `unknown_symbol` or `unknown_interval`, and `bad_option` when there is nothing.
 */
export function parseSelection(symbols: readonly string[], intervals: readonly string[]): Selection {
  return {
    symbols: parseNames(symbols, 'symbol', parseSymbol),
    intervals: parseNames(intervals, 'interval', parseInterval),
  }
}

/** Every combination, symbol by symbol. */
export function combine(symbols: readonly SymbolName[], intervals: readonly Interval[]): Series[] {
  return symbols.flatMap(symbol => intervals.map(interval => ({ symbol, interval })))
}

/** The intervals of a selection, `all` being the twelve. */
export function selectedIntervals({ intervals }: Selection): readonly Interval[] {
  return intervals === 'all' ? INTERVALS : intervals
}

function parseNames<T>(texts: readonly string[], what: string, parse: (text: string) => T): T[] | 'all' {
  if (!Array.isArray(texts) || texts.length === 0)
    throw new KlinesError('bad_option', `No ${what} is named. Expected a list of at least one, or all.`)
  const names = [...new Set(texts.flatMap(text => text.split(',')).map(text => text.trim()))]
  const all = names.some(name => name.toLowerCase() === 'all')
  // Parsed even beside `all`, so that a misspelt name is never passed over.
  const parsed = names.filter(name => name.toLowerCase() !== 'all').map(parse)
  return all ? 'all' : [...new Set(parsed)]
}
