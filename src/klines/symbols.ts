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
  const name = text.trim().toUpperCase().replace(/[/_-]/g, '')
  if (isSymbol(name)) return name
  const near = suggest(name, SYMBOLS)
  throw new KlinesError('unknown_symbol', `Unknown symbol "${text}". Expected one of ${SYMBOLS.join(', ')}.`, {
    suggestions: near ? [`Did you mean ${near}?`] : [],
    data: { symbol: text },
  })
}
