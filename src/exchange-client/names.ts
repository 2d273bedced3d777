import { type BodyFault, KlinesError } from '../klines/errors.js'
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

/** Parses the answer for `NAMES_PATH`. Throws `bad_list`. */
export function parseNames(bytes: Uint8Array): ExchangeNames {
  const names = parseEntries(bytes).map(entry => (entry as { symbol?: unknown } | null)?.symbol)
  const bad = names.findIndex(name => typeof name !== 'string')
  if (bad !== -1) throw badList(`entry ${bad} has no symbol`)
  return {
    symbols: sortSymbols(names.filter(isSymbol)),
    unusable: (names as string[]).filter(name => !isSymbol(name)),
  }
}

function parseEntries(bytes: Uint8Array): unknown[] {
  if (bytes.length > MAX_BYTES) throw badList(`${bytes.length} bytes, expected at most ${MAX_BYTES}`)
  let list: unknown
  try {
    list = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw badList('it is not JSON', 'not_json', cause)
  }
  if (!Array.isArray(list)) throw badList('it is not an array')
  if (list.length > MAX_NAMES) throw badList(`${list.length} entries, expected at most ${MAX_NAMES}`)
  return list
}

function badList(reason: string, kind: BodyFault = 'shape', cause?: unknown): KlinesError {
  return new KlinesError('bad_list', `The exchange's list of symbols is refused: ${reason}.`, { cause, data: { kind } })
}
