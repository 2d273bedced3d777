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
import { PUBLIC_BASE_URL } from '../sources/base-url.js'
import type { Source } from '../sources/source.js'
import { nameService, noMinutes, otherSource } from './errors.js'
import { fetchSymbols } from './lists.js'
import type { Run } from './run.js'

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
 * Checks the names of a request. Repeated names count once, and the order stays. Names may be spelled as people do (`btc/usdt`), joined
 * by commas, and have `all` among them. Throws `unknown_symbol` or `unknown_interval`, and `bad_option` when there is no name.
 */
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

/** Whether a selection names every symbol, so that those of the source need not be known. */
export function namesSymbols({ symbols }: Selection): boolean {
  return symbols !== 'all' && !symbols.some(isSymbolPattern)
}

/** Whether a selection takes a symbol, if the source has it. */
export function takesSymbol({ symbols }: Selection, symbol: SymbolName): boolean {
  if (symbols === 'all') return true
  return symbols.some(name => (isSymbolPattern(name) ? matchesPattern(name, symbol) : name === symbol))
}

/** The symbols of a selection: the named ones, and those that `available` has of the others. Throws `unknown_symbol`. */
function selectSymbols({ symbols }: Selection, available: readonly SymbolName[]): SymbolName[] {
  if (symbols === 'all') return [...available]
  return [...new Set(symbols.flatMap(name => (isSymbolPattern(name) ? matchSymbols(name, available) : name)))]
}

/** Every combination, symbol by symbol. */
function combine(symbols: readonly SymbolName[], intervals: readonly Interval[]): Series[] {
  return symbols.flatMap(symbol => intervals.map(interval => ({ symbol, interval })))
}

/**
 * The series of a selection; `all` is what the source has, of an exchange what the mirror has. `gone`: symbols of the mirror that the
 * source does not know any more. Throws `unknown_symbol`, `unknown_interval`, and what the list of symbols throws.
 */
export async function selectOfSource(
  selection: Selection,
  run: Run<Source>,
): Promise<{ series: Series[]; gone: SymbolName[] }> {
  const { source, mirror, warn } = run
  const intervals = selection.intervals === 'all' ? INTERVALS : selection.intervals
  const minutes = source.name === PUBLIC_BASE_URL && intervals.find(isMinutes)
  if (minutes) throw noMinutes(minutes, nameService(source))
  const isExchange = source.rules.kind === 'exchange'
  if (namesSymbols(selection)) {
    const named = selectSymbols(selection, [])
    if (!isExchange) await checkNames(named, run)
    return { series: combine(named, intervals), gone: [] }
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
  const others = SYMBOLS.filter(symbol => !names.includes(symbol) && !gone.includes(symbol))
  if (!isExchange && isAll && others.length > 0)
    warn(`Not listed by the service, so not part of "all": ${joinNames(others)}.`)
  const available = isExchange && isAll ? mirrored.filter(symbol => names.includes(symbol)) : names
  const series = combine(selectSymbols(selection, available), intervals)
  return { series, gone: gone.filter(symbol => takesSymbol(selection, symbol)) }
}

/** Throws `unknown_symbol` for names that neither this version nor the mirror nor the list of the service knows. */
async function checkNames(named: readonly SymbolName[], run: Run<Source>): Promise<void> {
  const known = [...SYMBOLS, ...run.mirror.symbols()]
  if (named.every(symbol => known.includes(symbol))) return
  // A refused request stores nothing.
  const { names } = await fetchSymbols({ ...run, readOnly: true })
  const unknown = named.filter(symbol => !known.includes(symbol) && !names.includes(symbol))
  if (unknown.length > 0) throw unknownSymbols(unknown, names, run.source.name, otherSource(run.source.name))
}

/** The series of a selection in the mirror; `all` and patterns stand for those that it has. Throws `window_missing` and `unknown_symbol`. */
export function selectOfMirror(selection: Selection, { mirror, warn, isExchange }: Run): Series[] {
  const { symbols, intervals } = selection
  const all = intervals === 'all' ? EXCHANGE_INTERVALS : intervals
  const named = namesSymbols(selection) ? selectSymbols(selection, []) : undefined
  // Looking for all symbols takes as long as reading a hundred windows.
  const isThere = (symbol: SymbolName) => all.some(interval => mirror.has({ symbol, interval }))
  const cached = named?.filter(isThere) ?? mirror.symbols()
  const known = named && cached.length === named.length ? cached : knownSymbols(mirror)
  const unknown = named?.filter(symbol => !known.includes(symbol)) ?? []
  if (unknown.length > 0 && isExchange && mirror.exists) {
    const near = unknownSymbols(unknown, mirror.symbols(), mirror.root).suggestions
    throw nothingCached(`The mirror ${mirror.root} does not have ${unknown.join(', ')}.`, mirror, near)
  }
  if (unknown.length > 0 && !isExchange)
    throw unknownSymbols(unknown, known, `the mirror ${mirror.root}`, otherSource(mirror.source))
  if (!mirror.exists) throw nothingCached(`There is no mirror at ${mirror.root}.`, mirror)
  const isNamed = ({ symbol }: Series) => intervals !== 'all' && symbols !== 'all' && symbols.includes(symbol)
  const series = combine(selectSymbols(selection, cached), all).filter(one => isNamed(one) || mirror.has(one))
  const lacking = series.filter(one => !mirror.has(one))
  if (lacking.length > 0) throw notInMirror(lacking, mirror)
  if (series.length === 0) throw nothingCached(`The mirror ${mirror.root} has none of these series.`, mirror)
  const others = named ? [] : known.filter(symbol => !cached.includes(symbol) && takesSymbol(selection, symbol))
  const whole = symbols === 'all' ? 'all' : symbols.filter(isSymbolPattern).join(',')
  if (others.length > 0) warn(`Not in the mirror, so not part of "${whole}": ${joinNames(others)}.`)
  return series
}

/** The error for named series that the mirror lacks; one that finer cached candles can be made into says how. */
function notInMirror(lacking: readonly Series[], mirror: Mirror): KlinesError {
  const minutes = lacking.find(({ interval }) => isMinutes(interval) && mirror.symbols([interval]).length === 0)
  if (minutes && mirror.rules.kind !== 'exchange') return noMinutes(minutes.interval, `The mirror ${mirror.root}`)
  const [{ symbol, interval }] = lacking
  const isPart = (part: Interval) =>
    isMultiple(parseTargetInterval(interval), part) && mirror.has({ symbol, interval: part })
  const finer = EXCHANGE_INTERVALS.find(isPart)
  const advice = finer ? [`-i ${finer} --resample ${interval} makes them of the ${finer} candles that are there.`] : []
  return nothingCached(`Not in the mirror: ${lacking.map(seriesName).join(', ')}.`, mirror, advice)
}
