import { KlinesError } from './errors.js'
import { type Interval, parseInterval } from './intervals.js'
import type { Series } from './series.js'
import {
  isSymbolPattern,
  matchesPattern,
  matchSymbols,
  parseSymbol,
  type SymbolName,
  type SymbolPattern,
} from './symbols.js'
import { splitNames } from './text.js'

/** Names of symbols and intervals, or all that the source has. */
export interface SelectionRequest {
  /** A pattern such as `*USDT` or `BTC*` stands for the symbols that the source has and it matches. */
  readonly symbols: readonly (SymbolName | SymbolPattern)[] | 'all'
  readonly intervals: readonly Interval[] | 'all'
}

/** Checks the names of a request, each once. They may be spelled as people do (`btc/usdt`), joined by commas, and have `all` among them. */
export function parseSelection({ symbols, intervals }: { symbols: Names; intervals: Names }): SelectionRequest {
  return {
    symbols: parseNames(symbols, 'symbol', text => (isSymbolPattern(text) ? text : parseSymbol(text))),
    intervals: parseNames(intervals, 'interval', parseInterval),
  }
}

type Names = readonly string[] | 'all'

function parseNames<T>(texts: Names, noun: string, parse: (text: string) => T): T[] | 'all' {
  if (texts === 'all') return 'all'
  const names = Array.isArray(texts) ? splitNames(texts) : []
  if (names.length === 0) throw new KlinesError('bad_option', `Expected at least one ${noun}, or all.`)
  const isAll = (name: string) => name.toLowerCase() === 'all'
  // Names beside `all` are parsed too, so that a misspelt one is noticed.
  const parsed = names.filter(name => !isAll(name)).map(parse)
  return names.some(isAll) ? 'all' : [...new Set(parsed)]
}

/** Whether every symbol is named, so that those of the source need not be known. */
export function namesSymbols({ symbols }: SelectionRequest): boolean {
  return symbols !== 'all' && !symbols.some(isSymbolPattern)
}

export function takesSymbol({ symbols }: SelectionRequest, symbol: SymbolName): boolean {
  if (symbols === 'all') return true
  return symbols.some(name => (isSymbolPattern(name) ? matchesPattern(name, symbol) : name === symbol))
}

/** Every combination, symbol by symbol; `available` has the symbols of patterns. */
export function combine(
  { symbols, intervals }: SelectionRequest,
  available: readonly SymbolName[],
  all: readonly Interval[],
) {
  const named = symbols === 'all' ? available : symbols
  const names = named.flatMap(name => (isSymbolPattern(name) ? matchSymbols(name, available) : name))
  const lengths = intervals === 'all' ? all : intervals
  return [...new Set(names)].flatMap(symbol => lengths.map((interval): Series => ({ symbol, interval })))
}
