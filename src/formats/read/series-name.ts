import { basename } from 'node:path'
import { type SeriesLabel, seriesName } from '../../candles/series.js'
import { isSymbol, splitSymbol, toSymbolName } from '../../candles/symbols.js'
import { intervalName } from '../../rows/target-interval.js'
import { badInput } from './errors.js'
import type { FileFacts } from './raw-table.js'

/** `BTCUSDT-1h.csv`, `btc_usdt_1h.parquet`. */
const FILE_NAME = /^([^-_]+(?:[-_][^-_]+)?)[-_]([^-_.]+)(?:\.\w+)+$/

/** The series of names as files have them; undefined for texts that are no names. */
export function parseLabel(symbol: unknown, interval: unknown): SeriesLabel | undefined {
  if (!isSymbol(symbol) || typeof interval !== 'string') return undefined
  try {
    return { symbol, interval: intervalName(interval) }
  } catch {
    return undefined
  }
}

/** The series in the name of a file; undefined where another word might be a part of the symbol. */
function parseFileName(name: string): SeriesLabel | undefined {
  const [, pair = '', interval] = FILE_NAME.exec(name) ?? []
  const symbol = toSymbolName(pair)
  const [, quote] = pair.split(/[-_]/)
  if (quote !== undefined && splitSymbol(symbol)?.quote !== quote.toUpperCase()) return undefined
  return parseLabel(symbol, interval === '1min' ? '1m' : interval)
}

/**
 * The series of a file whose rows do not name theirs: `given` by the folder of a lake, what the file says about itself, or its name. Throws `bad_input` where
 * the file says that it has another one than `given`, and without any.
 */
export function nameSeries(file: string, facts: FileFacts, given: SeriesLabel | undefined): SeriesLabel {
  const stated = parseLabel(facts.symbol, facts.interval)
  if (given && stated && seriesName(given) !== seriesName(stated)) {
    throw badInput({ file }, `it says that it has ${seriesName(stated)}, expected ${seriesName(given)}`)
  }
  const named = given ?? stated ?? parseFileName(basename(file))
  if (named) return named
  throw badInput({ file }, 'neither the file nor its name says which series it has', ['Call it BTCUSDT-1h.csv.'])
}
