import { KlinesError } from '../candles/errors.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import { namesSymbols, parseSelectionText, takesSymbol } from '../engine/selection.js'
import { intervalName } from '../rows/target-interval.js'
import type { DiffSide } from './sides.js'

/** Which series are compared. An empty list stands for all. */
export interface SeriesFilter {
  /** Names as people write them, patterns, or `all`. */
  readonly symbols: readonly string[]
  /** Also intervals of resampled candles, or `all`. */
  readonly intervals: readonly string[]
}

/**
 * The series to compare: those that any side has, except that a mirror beside a file has more than the file is about; a series whose symbol
 * and interval are named is compared wherever it is. Throws `bad_option` for two services, which cannot be listed, `window_missing`
 * when no side has what is named, and `no_candles` when the sides have nothing at all.
 */
export function selectSeries(sides: readonly DiffSide[], { symbols, intervals }: SeriesFilter): SeriesLabel[] {
  const files = sides.filter(({ kind }) => kind === 'file')
  const listed = files.length > 0 ? files : sides.filter(({ kind }) => kind === 'mirror')
  if (listed.length === 0) {
    throw new KlinesError('bad_option', 'Two services are too large to compare all they have.', {
      suggestions: ['Expected a mirror, a lake or a file on one side; klines mirror names the mirror of a service.'],
    })
  }
  const selection = parseSelectionText(symbols.length === 0 ? 'all' : symbols, 'all')
  const lengths = parseLengths(intervals)
  const isNamed = namesSymbols(selection) && lengths !== undefined
  const all = (isNamed ? sides : listed).flatMap(({ series }) => series)
  const found = new Map<string, SeriesLabel>()
  for (const { symbol, interval } of all) {
    const isTaken = takesSymbol(selection, symbol) && (lengths?.includes(interval) ?? true)
    if (isTaken) found.set(seriesName({ symbol, interval }), { symbol, interval })
  }
  const chosen = [...found.values()]
  const named = selection.symbols === 'all' ? [] : selection.symbols
  const lacking = isNamed
    ? named
        .flatMap(symbol => lengths.map(interval => seriesName({ symbol, interval })))
        .filter(name => !found.has(name))
    : [
        ...named.filter(name => !chosen.some(({ symbol }) => takesSymbol({ ...selection, symbols: [name] }, symbol))),
        ...(lengths ?? []).filter(length => !chosen.some(({ interval }) => interval === length)),
      ]
  if (lacking.length === 0 && chosen.length > 0) return chosen
  const asked = (isNamed ? sides : listed).map(({ name }) => name)
  const describe = (what: string, none: string) =>
    asked.length === 1 ? `${asked[0]} has ${none}.` : `Neither ${asked.join(' nor ')} has ${what}.`
  if (lacking.length === 0) throw new KlinesError('no_candles', describe('any candles', 'no candles'))
  throw new KlinesError('window_missing', describe(lacking.join(', '), `no ${lacking.join(', no ')}`), {
    suggestions: isNamed ? [] : ['Name the symbol and the interval of a series to compare it wherever it is.'],
  })
}

/** Intervals by their names; undefined for all. Throws `unknown_interval`. */
function parseLengths(texts: readonly string[]): string[] | undefined {
  const names = texts.flatMap(text => text.split(',')).map(text => text.trim())
  if (names.length === 0 || names.some(name => name.toLowerCase() === 'all')) return undefined
  return [...new Set(names.map(intervalName))]
}
