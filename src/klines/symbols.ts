import { KlinesError } from './errors.js'
import { suggest } from './suggest.js'

/** The symbols of the service, in the order of its OpenAPI description. */
export const SYMBOLS = [
  'BTCUSDT',
  'ETHUSDT',
  'BNBUSDT',
  'SOLUSDT',
  'XRPUSDT',
  'ADAUSDT',
  'DOGEUSDT',
  'AVAXUSDT',
  'LINKUSDT',
  'DOTUSDT',
] as const

/** One of the ten symbols. */
export type SymbolName = (typeof SYMBOLS)[number]

/** Whether `text` is a symbol exactly as the service writes it. */
export function isSymbol(text: unknown): text is SymbolName {
  return (SYMBOLS as readonly unknown[]).includes(text)
}

/**
 * Converts a symbol as people write it (`btcusdt`, `BTC/USDT`, `BTC-USDT`, `BTC_USDT`) to the service's name. Throws
 * `unknown_symbol` and suggests the nearest name.
 */
export function parseSymbol(text: string): SymbolName {
  const name = toName(text)
  if (isSymbol(name)) return name
  const near = suggest(name, SYMBOLS)
  const suggestions = near ? [`Did you mean ${near}?`] : []
  if (/\.\w+$/.test(text)) suggestions.push(`Is it the name of a file? ${QUOTE_PATTERNS}`)
  throw new KlinesError('unknown_symbol', `Unknown symbol "${text}". Expected one of ${SYMBOLS.join(', ')}.`, {
    suggestions,
    data: { symbol: text },
  })
}

const QUOTE_PATTERNS = "Quote a pattern, as in '*USDT': a shell replaces it by the names of files otherwise."

/** A pattern of symbols such as `BTC*` or `???USDT`: `*` stands for any text, `?` for one character. */
export type SymbolPattern = `${string}*${string}` | `${string}?${string}`

export function isSymbolPattern(text: string): text is SymbolPattern {
  return /[*?]/.test(text)
}

/**
 * The symbols that a pattern matches, in their order; it may be in lower case and have the separators that `parseSymbol` takes.
 * Throws `unknown_symbol` when it matches none.
 */
export function matchSymbols(pattern: SymbolPattern, names: readonly SymbolName[]): SymbolName[] {
  const text = toName(pattern)
  const source = text
    .replace(/[^A-Z0-9*?]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  const matching = names.filter(name => new RegExp(`^${source}$`).test(name))
  if (matching.length > 0) return matching
  const expected = names.length === 0 ? 'There are no symbols.' : `There are ${names.join(', ')}.`
  throw new KlinesError('unknown_symbol', `No symbol matches "${pattern}". ${expected}`, { data: { symbol: pattern } })
}

function toName(text: string): string {
  return text.trim().toUpperCase().replace(/[/_-]/g, '')
}
