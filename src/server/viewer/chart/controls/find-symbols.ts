import { suggest } from '../../../../klines/suggest.js'
import { type SymbolName, toSymbolName } from '../../../../klines/symbols.js'

/**
 * The symbols that a text may stand for, the likeliest first: the same name, names that begin with it, names that contain it, and
 * else the one that is nearly the same. All of them for an empty text.
 */
export function findSymbols(text: string, symbols: readonly SymbolName[]): SymbolName[] {
  const name = toSymbolName(text)
  if (name === '') return [...symbols]
  const ranks = [
    (symbol: string) => symbol === name,
    (symbol: string) => symbol.startsWith(name),
    (symbol: string) => symbol.includes(name),
  ]
  const found = new Set(ranks.flatMap(matches => symbols.filter(matches)))
  if (found.size > 0) return [...found]
  const near = suggest(name, symbols)
  return near === undefined ? [] : [near]
}
