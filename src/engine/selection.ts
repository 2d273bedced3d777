import { exchangeMayHaveMore, nameService, PUBLIC_BASE_URL } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, INTERVALS, isMinutes, noMinutes } from '../candles/intervals.js'
import { combine, namesSymbols, type SelectionRequest, takesSymbol } from '../candles/selection.js'
import { type Series, seriesName } from '../candles/series.js'
import { isSymbolPattern, SYMBOLS, type SymbolName, unknownSymbols } from '../candles/symbols.js'
import { formatDate } from '../candles/windows.js'
import { joinNames } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { firstCandle, knownSymbols } from '../mirror/status.js'
import { noMirror, nothingCached } from '../mirror/user-mirrors.js'
import { isMultiple, parseTargetInterval } from '../rows/target-interval.js'
import type { Source } from '../sources/source.js'
import { fetchSymbols } from './lists.js'
import type { Run } from './run.js'

/** The series of a selection; `all` is what the source has, of an exchange what the mirror has. `gone`: see `Plan`. */
export async function selectOfSource(selection: SelectionRequest, run: Run<Source>) {
  const { source, mirror, warn } = run
  const isExchange = source.rules.kind === 'exchange'
  const minutes = selection.intervals !== 'all' && selection.intervals.find(isMinutes)
  if (minutes && source.name === PUBLIC_BASE_URL) throw noMinutes(minutes, nameService(source.name))
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
  const available = isExchange && isAll ? mirrored : [...names, ...gone]
  const series = combine(selection, available, INTERVALS).filter(({ symbol }) => !gone.includes(symbol))
  return { series, gone: gone.filter(symbol => takesSymbol(selection, symbol)) }
}

/** Throws `unknown_symbol` for names that neither the mirror nor the service knows. */
async function checkNames(named: SelectionRequest['symbols'], run: Run<Source>): Promise<void> {
  const known: readonly string[] = [...SYMBOLS, ...run.mirror.symbols()]
  const others = [...named].filter(symbol => !known.includes(symbol))
  if (others.length === 0) return
  // A refused request stores nothing.
  const { names } = await fetchSymbols({ ...run, readOnly: true })
  const unknown = others.filter(symbol => !names.includes(symbol))
  if (unknown.length > 0) throw unknownSymbols(unknown, names, run.source.name, otherSource(run.source.name))
}

/** The series of a selection in the mirror; `all` and patterns stand for those that it has. */
export function selectOfMirror(selection: SelectionRequest, run: Run): Series[] {
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
function notInMirror(symbols: readonly SymbolName[], series: readonly Series[], { mirror, isExchange }: Run) {
  const known = knownSymbols(mirror)
  const unknown = symbols.filter(symbol => !known.includes(symbol))
  if (unknown.length > 0 && !isExchange)
    return unknownSymbols(unknown, known, `the mirror ${mirror.root}`, otherSource(mirror.source))
  if (!mirror.exists) return noMirror(mirror)
  const minutes = series.find(({ interval }) => isMinutes(interval) && mirror.symbols([interval]).length === 0)
  if (minutes && !isExchange) return noMinutes(minutes.interval, `The mirror ${mirror.root}`)
  const advice = series.slice(0, 1).flatMap(one => {
    const { interval, since } = findFiner(mirror, one) ?? {}
    if (since === undefined) return []
    return `klines export -i ${interval} --resample ${one.interval} makes them of the candles since ${formatDate(since)}.`
  })
  const names = series.length > 0 ? series.map(seriesName) : symbols
  return nothingCached(`Not in the mirror: ${names.join(', ')}.`, mirror, advice)
}

/** The longest history, of the longest candles that have it, that can be made into a series: its interval and first open time. */
export function findFiner(mirror: Mirror, { symbol, interval }: Series) {
  const parts = EXCHANGE_INTERVALS.filter(part => isMultiple(parseTargetInterval(interval), part))
  const finer = parts.flatMap(part => {
    const since = firstCandle(mirror, { symbol, interval: part })
    return since === undefined ? [] : { interval: part, since }
  })
  return finer.toReversed().sort((a, b) => a.since - b.since)[0]
}

/** Where a symbol may be that a source does not have: the exchange has some 3,500. None for the exchange itself and the sample. */
function otherSource(baseUrl: string | undefined): string[] {
  return exchangeMayHaveMore(baseUrl) ? ['The exchange may have it: --base-url binance.'] : []
}
