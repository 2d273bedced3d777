import { KlinesError } from '../klines/errors.js'
import { isObject } from '../klines/json.js'
import { parseList } from '../klines/lists.js'
import { isSymbol, type SymbolName, sortSymbols } from '../klines/symbols.js'

/** The exchange has some 3,500 names. */
const MAX_NAMES = 50_000
/** A larger body is not parsed; 3,500 names take 160 kB. */
const MAX_BYTES = 8 * 1024 * 1024

/** The names of an exchange. */
export interface ExchangeNames {
  readonly symbols: SymbolName[]
  /** Names that cannot be a path: the exchange allows more than letters and digits. */
  readonly unusable: string[]
}

const LIST = "The exchange's list of symbols"

/** Parses the answer for `NAMES_PATH`. Throws `bad_list`. */
export function parseNames(bytes: Uint8Array): ExchangeNames {
  const names = parseList(bytes, LIST, { maxBytes: MAX_BYTES, maxEntries: MAX_NAMES }).map((entry, index) => {
    if (isObject(entry) && typeof entry.symbol === 'string') return entry.symbol
    throw new KlinesError('bad_list', `${LIST} is refused: entry ${index} has no symbol.`, { data: { kind: 'shape' } })
  })
  return { symbols: sortSymbols(names.filter(isSymbol)), unusable: names.filter(name => !isSymbol(name)) }
}
