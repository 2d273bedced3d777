import { KlinesError } from '../candles/errors.js'
import { INTERVALS, type Interval, parseInterval } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import {
  isSymbolPattern,
  matchesPattern,
  matchSymbols,
  parseSymbol,
  type SymbolName,
  type SymbolPattern,
} from '../candles/symbols.js'

/** An interval as text. Editors complete the known ones, and a variable may be any text: what it says is checked at run time. */
export type IntervalText = Interval | (string & Record<never, never>)

/** Names of symbols and intervals, or all that the source has. An unknown interval throws before any request. */
export interface SelectionRequest {
  /** A pattern such as `*USDT` or `BTC*` stands for the symbols that the source has and it matches. */
  readonly symbols: readonly (SymbolName | SymbolPattern)[] | 'all'
  readonly intervals: readonly IntervalText[] | 'all'
}

/** A request whose names were checked. */
export interface Selection extends SelectionRequest {
  readonly intervals: readonly Interval[] | 'all'
}

/**
 * Checks the names of a request. Repeated names count once, and the order stays. Callers without types may spell symbols as
 * people do (`btc/usdt`), join names by commas, and put `all` among them. Throws `unknown_symbol` or `unknown_interval`, and
 * `bad_option` when there is no name.
 */
export function parseSelection({ symbols, intervals }: SelectionRequest): Selection {
  return parseSelectionText(symbols, intervals)
}

/** The same for names as people write them. */
export function parseSelectionText(
  symbols: readonly string[] | 'all',
  intervals: readonly string[] | 'all',
): Selection {
  return {
    symbols: parseNames(symbols, 'symbol', text => (isSymbolPattern(text) ? text : parseSymbol(text))),
    intervals: parseNames(intervals, 'interval', parseInterval),
  }
}

/** Whether a selection names every symbol, so that those of the source need not be known. */
export function namesSymbols({ symbols }: Selection): boolean {
  return symbols !== 'all' && !symbols.some(isSymbolPattern)
}

/** The symbols of a selection: the named ones, and those that `available` has of the others. Throws `unknown_symbol`. */
export function selectSymbols({ symbols }: Selection, available: readonly SymbolName[]): SymbolName[] {
  if (symbols === 'all') return [...available]
  return [...new Set(symbols.flatMap(name => (isSymbolPattern(name) ? matchSymbols(name, available) : name)))]
}

/** Whether a selection takes a symbol, if the source has it. */
export function takesSymbol({ symbols }: Selection, symbol: SymbolName): boolean {
  if (symbols === 'all') return true
  return symbols.some(name => (isSymbolPattern(name) ? matchesPattern(name, symbol) : name === symbol))
}

/** Every combination, symbol by symbol. */
export function combine(symbols: readonly SymbolName[], intervals: readonly Interval[]): Series[] {
  return symbols.flatMap(symbol => intervals.map(interval => ({ symbol, interval })))
}

/** The intervals of a selection; `all` are the `available` ones, by default the twelve: 1m, 3m and 5m are named. */
export function selectedIntervals(
  { intervals }: Selection,
  available: readonly Interval[] = INTERVALS,
): readonly Interval[] {
  return intervals === 'all' ? available : intervals
}

function parseNames<T>(texts: readonly string[] | 'all', noun: string, parse: (text: string) => T): T[] | 'all' {
  if (texts === 'all') return 'all'
  if (!Array.isArray(texts) || texts.length === 0)
    throw new KlinesError('bad_option', `Expected at least one ${noun}, or all.`)
  const names = [...new Set(texts.flatMap(text => text.split(',')).map(text => text.trim()))]
  const isAll = (name: string) => name.toLowerCase() === 'all'
  // Names beside `all` are parsed too, so that a misspelt one is noticed.
  const parsed = names.filter(name => !isAll(name)).map(parse)
  return names.some(isAll) ? 'all' : [...new Set(parsed)]
}
