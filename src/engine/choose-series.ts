import { KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, isMinutes } from '../candles/intervals.js'
import { type Series, seriesName } from '../candles/series.js'
import { isSymbolPattern, SYMBOLS, type SymbolName, unknownSymbols } from '../candles/symbols.js'
import { isMultiple, parseTargetInterval } from '../rows/target-interval.js'
import { PUBLIC_BASE_URL } from '../sources/base-url.js'
import type { Source } from '../sources/source.js'
import { joinNames, nameService, noMinutes, nothingCached, otherSource } from './errors.js'
import { fetchSymbols, knownSymbols } from './lists.js'
import type { Run } from './run.js'
import { combine, namesSymbols, type Selection, selectedIntervals, selectSymbols } from './selection.js'
/** The series of a selection; `all` is what the source has. Of an exchange, that is what the mirror has. */
export async function selectOfSource(
  selection: Selection,
  run: Run<Source>,
): Promise<{ series: Series[]; gone: SymbolName[] }> {
  const { source, mirror, warn } = run
  const intervals = selectedIntervals(selection)
  const minutes = source.name === PUBLIC_BASE_URL && intervals.find(isMinutes)
  if (minutes) throw noMinutes(minutes, nameService(source))
  const isExchange = source.rules.kind === 'exchange'
  if (namesSymbols(selection)) {
    const named = selectSymbols(selection, [])
    if (!isExchange) await checkNames(named, run)
    return { series: combine(named, intervals), gone: [] }
  }
  const mirrored = mirror.symbols()
  if (isExchange && selection.symbols === 'all' && mirrored.length === 0) throw nothingToUpdate(run)
  const { names } = await fetchSymbols(run)
  const isAll = selection.symbols === 'all'
  const available = isExchange && isAll ? mirrored.filter(symbol => names.includes(symbol)) : names
  const gone = mirrored.filter(symbol => !names.includes(symbol))
  const others = SYMBOLS.filter(symbol => !names.includes(symbol) && !gone.includes(symbol))
  if (!isExchange && isAll && others.length > 0)
    warn(`Not listed by the service, so not part of "all": ${joinNames(others)}.`)
  const symbols = selectSymbols(selection, available)
  return { series: combine(symbols, intervals), gone: gone.filter(symbol => isAll || matchesAny(selection, symbol)) }
}

function matchesAny(selection: Selection, symbol: SymbolName): boolean {
  try {
    return selectSymbols(selection, [symbol]).includes(symbol)
  } catch {
    // No name matches a pattern.
    return false
  }
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

function nothingToUpdate({ mirror, source }: Run<Source>): KlinesError {
  const message = `"all" stands for the symbols of the mirror, and ${mirror.root} has none yet.`
  const advice = `Name symbols, or a quoted pattern such as '*BTC'; klines symbols --base-url ${source.name} lists them.`
  return new KlinesError('bad_option', message, { suggestions: [advice] })
}

/** The series of a selection in the mirror; `all` and patterns stand for those that it has. */
export function selectOfMirror(selection: Selection, { mirror, warn, isExchange }: Run): Series[] {
  const { symbols, intervals } = selection
  const all = selectedIntervals(selection, EXCHANGE_INTERVALS)
  const named = namesSymbols(selection) ? selectSymbols(selection, []) : undefined
  // Looking for all symbols takes as long as reading a hundred windows.
  const cached = named
    ? named.filter(symbol => all.some(interval => mirror.has({ symbol, interval })))
    : mirror.symbols()
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
  const others = named
    ? []
    : known.filter(symbol => !cached.includes(symbol) && (symbols === 'all' || matchesAny(selection, symbol)))
  if (others.length > 0) {
    const whole = symbols === 'all' ? 'all' : symbols.filter(isSymbolPattern).join(',') || 'all'
    warn(`Not in the mirror, so not part of "${whole}": ${joinNames(others)}.`)
  }
  return series
}

/** The error for named series that the mirror lacks; one that finer cached candles can be made into says how. */
function notInMirror(lacking: readonly Series[], mirror: Run['mirror']): KlinesError {
  const minutes = lacking.find(({ interval }) => isMinutes(interval) && mirror.symbols([interval]).length === 0)
  if (minutes && mirror.rules.kind !== 'exchange') return noMinutes(minutes.interval, `The mirror ${mirror.root}`)
  const [{ symbol, interval }] = lacking
  const finer = EXCHANGE_INTERVALS.find(
    part => isMultiple(parseTargetInterval(interval), part) && mirror.has({ symbol, interval: part }),
  )
  const advice = finer ? [`-i ${finer} --resample ${interval} makes them of the ${finer} candles that are there.`] : []
  return nothingCached(`Not in the mirror: ${lacking.map(seriesName).join(', ')}.`, mirror, advice)
}
