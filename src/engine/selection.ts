import { KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, INTERVALS, type Interval, isMinutes, parseInterval } from '../candles/intervals.js'
import { type Series, seriesName } from '../candles/series.js'
import {
  isSymbolPattern,
  matchesPattern,
  matchSymbols,
  parseSymbol,
  SYMBOLS,
  type SymbolName,
  type SymbolPattern,
  unknownSymbols,
} from '../candles/symbols.js'
import { joinNames } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { knownSymbols } from '../mirror/status.js'
import { nothingCached } from '../mirror/user-mirrors.js'
import { isMultiple, parseTargetInterval } from '../rows/target-interval.js'
import { exchangeMayHaveMore, PUBLIC_BASE_URL } from '../sources/base-url.js'
import type { Source } from '../sources/source.js'
import { fetchSymbols, nameService, noMinutes } from './lists.js'
import type { Run } from './run.js'

/** An interval as text: editors complete the known ones, and any other is checked at run time. */
export type IntervalText = Interval | (string & Record<never, never>)

/** Names of symbols and intervals, or all that the source has. */
export interface SelectionRequest {
  /** A pattern such as `*USDT` or `BTC*` stands for the symbols that the source has and it matches. */
  readonly symbols: readonly (SymbolName | SymbolPattern)[] | 'all'
  readonly intervals: readonly IntervalText[] | 'all'
}

export interface Selection extends SelectionRequest {
  readonly intervals: readonly Interval[] | 'all'
}

/** Checks the names of a request, each once. They may be spelled as people do (`btc/usdt`), joined by commas, and have `all` among them. */
export function parseSelection({ symbols, intervals }: { symbols: Names; intervals: Names }): Selection {
  return {
    symbols: parseNames(symbols, 'symbol', text => (isSymbolPattern(text) ? text : parseSymbol(text))),
    intervals: parseNames(intervals, 'interval', parseInterval),
  }
}

type Names = readonly string[] | 'all'

function parseNames<T>(texts: Names, noun: string, parse: (text: string) => T): T[] | 'all' {
  if (texts === 'all') return 'all'
  if (!Array.isArray(texts) || texts.length === 0)
    throw new KlinesError('bad_option', `Expected at least one ${noun}, or all.`)
  const names = texts.flatMap(text => text.split(',')).map(text => text.trim())
  const isAll = (name: string) => name.toLowerCase() === 'all'
  // Names beside `all` are parsed too, so that a misspelt one is noticed.
  const parsed = names.filter(name => !isAll(name)).map(parse)
  return names.some(isAll) ? 'all' : [...new Set(parsed)]
}

/** Whether every symbol is named, so that those of the source need not be known. */
export function namesSymbols({ symbols }: Selection): boolean {
  return symbols !== 'all' && !symbols.some(isSymbolPattern)
}

export function takesSymbol({ symbols }: Selection, symbol: SymbolName): boolean {
  if (symbols === 'all') return true
  return symbols.some(name => (isSymbolPattern(name) ? matchesPattern(name, symbol) : name === symbol))
}

/** Every combination, symbol by symbol; `available` has the symbols of patterns. */
function combine({ symbols, intervals }: Selection, available: readonly SymbolName[], all: readonly Interval[]) {
  const named = symbols === 'all' ? available : symbols
  const names = named.flatMap(name => (isSymbolPattern(name) ? matchSymbols(name, available) : name))
  const lengths = intervals === 'all' ? all : intervals
  return [...new Set(names)].flatMap(symbol => lengths.map((interval): Series => ({ symbol, interval })))
}

/** The series of a selection; `all` is what the source has, of an exchange what the mirror has. `gone`: see `Plan`. */
export async function selectOfSource(
  selection: Selection,
  run: Run<Source>,
): Promise<{ series: Series[]; gone: SymbolName[] }> {
  const { source, mirror, warn } = run
  const isExchange = source.rules.kind === 'exchange'
  const minutes = selection.intervals !== 'all' && selection.intervals.find(isMinutes)
  if (minutes && source.name === PUBLIC_BASE_URL) throw noMinutes(minutes, nameService(source))
  if (namesSymbols(selection)) {
    if (!isExchange) await checkNames(selection.symbols, run)
    return { series: combine(selection, [], INTERVALS), gone: [] }
  }
  const mirrored = mirror.symbols()
  const isAll = selection.symbols === 'all'
  if (isExchange && isAll && mirrored.length === 0) {
    const message = `"all" stands for the symbols of the mirror, and ${mirror.root} has none yet.`
    const advice = `Name symbols, or a quoted pattern such as '*BTC'; klines symbols --base-url ${source.name} lists them.`
    throw new KlinesError('bad_option', message, { suggestions: [advice] })
  }
  const { names } = await fetchSymbols(run)
  const gone = mirrored.filter(symbol => !names.includes(symbol))
  const others = isExchange || !isAll ? [] : SYMBOLS.filter(symbol => ![...names, ...gone].includes(symbol))
  if (others.length > 0) warn(`Not listed by the service, so not part of "all": ${joinNames(others)}.`)
  const available = isExchange && isAll ? mirrored.filter(symbol => names.includes(symbol)) : names
  const series = combine(selection, available, INTERVALS)
  return { series, gone: gone.filter(symbol => takesSymbol(selection, symbol)) }
}

/** Throws `unknown_symbol` for names that neither the mirror nor the service knows. */
async function checkNames(named: Selection['symbols'], run: Run<Source>): Promise<void> {
  const known: readonly string[] = [...SYMBOLS, ...run.mirror.symbols()]
  const others = [...named].filter(symbol => !known.includes(symbol))
  if (others.length === 0) return
  // A refused request stores nothing.
  const { names } = await fetchSymbols({ ...run, readOnly: true })
  const unknown = others.filter(symbol => !names.includes(symbol))
  if (unknown.length > 0) throw unknownSymbols(unknown, names, run.source.name, otherSource(run.source.name))
}

/** The series of a selection in the mirror; `all` and patterns stand for those that it has. */
export function selectOfMirror(selection: Selection, run: Run): Series[] {
  const { mirror, warn } = run
  const { symbols, intervals } = selection
  // Looking for all symbols takes as long as reading a hundred windows.
  const cached = namesSymbols(selection) ? [] : mirror.symbols()
  const all = combine(selection, cached, EXCHANGE_INTERVALS)
  const series = all.filter(one => mirror.has(one))
  const named: readonly SymbolName[] = symbols === 'all' ? [] : symbols.filter(name => !isSymbolPattern(name))
  const absent = named.filter(symbol => !series.some(one => one.symbol === symbol))
  const lacking = intervals === 'all' ? [] : all.filter(one => named.includes(one.symbol) && !series.includes(one))
  if (absent.length + lacking.length > 0) throw notInMirror(absent, lacking, run)
  if (!mirror.exists) throw noMirror(mirror)
  if (series.length === 0) throw nothingCached(`The mirror ${mirror.root} has none of these series.`, mirror)
  const others = symbols === 'all' ? knownSymbols(mirror).filter(symbol => !cached.includes(symbol)) : []
  if (others.length > 0) warn(`Not in the mirror, so not part of "all": ${joinNames(others)}.`)
  return series
}

/** The error for named symbols and series that the mirror lacks; one that finer cached candles can be made into says how. */
function notInMirror(
  symbols: readonly SymbolName[],
  series: readonly Series[],
  { mirror, isExchange }: Run,
): KlinesError {
  const known = symbols.length > 0 ? knownSymbols(mirror) : []
  const unknown = symbols.filter(symbol => !known.includes(symbol))
  if (unknown.length > 0 && !isExchange)
    return unknownSymbols(unknown, known, `the mirror ${mirror.root}`, otherSource(mirror.source))
  if (!mirror.exists) return noMirror(mirror)
  const minutes = series.find(({ interval }) => isMinutes(interval) && mirror.symbols([interval]).length === 0)
  if (minutes && !isExchange) return noMinutes(minutes.interval, `The mirror ${mirror.root}`)
  const advice = series.slice(0, 1).flatMap(({ symbol, interval }) => {
    const target = parseTargetInterval(interval)
    const finer = EXCHANGE_INTERVALS.find(part => isMultiple(target, part) && mirror.has({ symbol, interval: part }))
    return finer ? [`-i ${finer} --resample ${interval} makes them of the ${finer} candles that are there.`] : []
  })
  const names = series.length > 0 ? series.map(seriesName) : symbols
  return nothingCached(`Not in the mirror: ${names.join(', ')}.`, mirror, advice)
}

function noMirror(mirror: Mirror): KlinesError {
  return nothingCached(`There is no mirror at ${mirror.root}.`, mirror)
}

/** Where a symbol may be that a source does not have: the exchange has some 3,500. None for the exchange itself and the sample. */
function otherSource(baseUrl: string | undefined): string[] {
  return exchangeMayHaveMore(baseUrl) ? ['The exchange may have it: --base-url binance.'] : []
}
