import { USDM } from './base-url.js'
import { KlinesError } from './errors.js'
import { isIntervalWord } from './intervals.js'
import { didYouMean, nearest } from './suggest.js'

/** The ten symbols of the public service, in the order of its OpenAPI description. Other sources have others. */
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

/**
 * The name of a trading pair, such as `BTCUSDT` or `币安人生USDT`: letters and digits of any script, in upper case where a letter
 * has one, and composed (NFC). So a name has one spelling, and one folder on any disk. A contract that is delivered on a day has `_` and
 * that day at its end: `BTCUSDT_261225`.
 */
export type SymbolName = string

export const SYMBOL_FORM = '2 or more letters and digits, at most 40 bytes of UTF-8'

/** Longer names could become too long as part of the name of a file. */
const MAX_BYTES = 40

const PLAIN_NAME = /^[A-Z0-9]{2,33}(_\d{6})?$/
/** The day of delivery at the end of a name. */
const DELIVERY = /_\d{6}$/

/**
 * Letters, with the marks that belong to one script, such as vowels of Devanagari or Thai, and digits. Marks that go with any
 * letter, and letters that nobody sees, only make different names that look the same.
 */
const ANY_NAME = /^(?:(?!\p{DI})[\p{L}\p{Nd}](?:(?!\p{DI}|\p{sc=Inherited}|\p{sc=Common})[\p{Mn}\p{Mc}])*){2,40}$/u

/** Whether `text` has the form of a symbol's name. Only a source knows whether there is such a symbol. */
export function isSymbol(text: unknown): text is SymbolName {
  if (typeof text !== 'string') return false
  if (PLAIN_NAME.test(text)) return true
  const isName = ANY_NAME.test(text.replace(DELIVERY, ''))
  return isName && new TextEncoder().encode(text).length <= MAX_BYTES && toUpper(text) === text
}

/** Composed, and in upper case; a letter that has no upper case, or none without a mark, stays. */
function toUpper(text: string): string {
  const upper = text.normalize('NFC').replace(/\p{L}/gu, letter => {
    const large = letter.toUpperCase().normalize('NFC')
    return /^\p{L}+$/u.test(large) ? large : letter
  })
  return upper.normalize('NFC')
}

const QUOTES =
  'AEUR ARS AUD BIDR BKRW BNB BRL BTC BUSD BVND COP CZK DAI DOGE DOT ETH EUR EURI FDUSD GBP GYEN IDR IDRT JPY MXN NGN PAX PLN RON RUB SOL TRX TRY TUSD U UAH USD1 USDC USDP USDS USDT UST VAI XRP XUSD ZAR'.split(
    ' ',
  )

/** The asset of a symbol and what it is quoted in, by the longest quote that is known; undefined without one. */
export function splitSymbol(symbol: SymbolName): { readonly base: string; readonly quote: string } | undefined {
  const pair = symbol.replace(DELIVERY, '')
  const [quote] = QUOTES.filter(quote => pair.endsWith(quote) && pair !== quote).sort((a, b) => b.length - a.length)
  return quote === undefined ? undefined : { base: pair.slice(0, -quote.length), quote }
}

/** Sorts names, each once: the ten of the public service first, in their order, then the others by name. */
export function sortSymbols(names: Iterable<SymbolName>): SymbolName[] {
  const all = new Set(names)
  const known: readonly SymbolName[] = SYMBOLS
  return [...known.filter(name => all.has(name)), ...[...all].filter(name => !known.includes(name)).sort()]
}

/**
 * Converts a symbol as people write it (`btcusdt`, `BTC/USDT`, `BTC-USDT`, `BTC_USDT`, `BTC/USDT-261225`) to its name. Throws
 * `unknown_symbol` for a text that cannot be one.
 */
export function parseSymbol(text: string): SymbolName {
  const name = toSymbolName(text)
  // `1d` has the form of a symbol, too: people forget `-i`. `BTCUSDT_` lacks its day.
  if (isSymbol(name) && !isIntervalWord(text) && !/[/_-]$/.test(text.trim())) return name
  // `BTC/USDT:USDT` and `BTC/USDT:USDT-261225` are futures of ccxt, `BINANCE:BTCUSDT` is of TradingView.
  const isFuture = /^[^:]+\/[^:]+:/.test(text)
  const pair = [text.replace(/:[^-]*/, ''), ...text.split(':')].map(toSymbolName).find(splitSymbol)
  const market = isFuture && pair ? [`The future is ${pair} with --base-url ${USDM}.`] : []
  const expected = isIntervalWord(text) ? 'intervals behind -i' : `${SYMBOL_FORM}, such as BTCUSDT`
  throw new KlinesError('unknown_symbol', `Unknown symbol "${text}". Expected ${expected}.`, {
    suggestions: [...didYouMean(text, pair ?? nearest(name, SYMBOLS), parseSymbol), ...market],
    data: { symbol: text },
  })
}

/** The error for symbols that a source does not have. `names`: those that it has. */
export function unknownSymbols(
  unknown: readonly SymbolName[],
  names: readonly SymbolName[],
  source: string,
  suggestions: readonly string[] = [],
): KlinesError {
  const [symbol] = unknown
  const what = unknown.length === 1 ? `Unknown symbol "${symbol}"` : `Unknown symbols: ${unknown.join(', ')}`
  const few = names.length > 0 && names.length <= MAX_NAMES ? ` Expected one of ${names.join(', ')}.` : ''
  return new KlinesError('unknown_symbol', `${what}; ${source} has no such symbol.${few}`, {
    suggestions: [...unknown.flatMap(name => didYouMean(name, nearest(name, names), parseSymbol)), ...suggestions],
    data: { symbol, symbols: [...unknown] },
  })
}

const MAX_NAMES = 20

/** A pattern of symbols such as `BTC*` or `???USDT`: `*` stands for any text, `?` for one character. */
export type SymbolPattern = `${string}*${string}` | `${string}?${string}`

export function isSymbolPattern(text: string): text is SymbolPattern {
  return /[*?]/.test(text)
}

/** The symbols that a pattern, in any spelling of symbols, matches. Throws `unknown_symbol` when it matches none. */
export function matchSymbols(pattern: SymbolPattern, names: readonly SymbolName[]): SymbolName[] {
  const matching = names.filter(name => matchesPattern(pattern, name))
  if (matching.length > 0) return matching
  const few = names.length <= MAX_NAMES ? ` There are ${names.join(', ') || 'no symbols'}.` : ''
  throw new KlinesError('unknown_symbol', `No symbol matches "${pattern}".${few}`, { data: { symbol: pattern } })
}

export function matchesPattern(pattern: SymbolPattern, name: SymbolName): boolean {
  // `BTCUSDT_*` and `*_2612??` end with a delivery; `BTC_*` is `BTC*`, as `BTC_USDT` is `BTCUSDT`.
  const [, pair = '', day] = /^(.+)_([\d*?]+)$/.exec(pattern.trim()) ?? []
  const isDelivery = isSymbolPattern(pair) || splitSymbol(toSymbolName(pair))
  const source = (isDelivery ? `${toSymbolName(pair)}_${day}` : toSymbolName(pattern))
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 'u').test(name)
}

/** A symbol as people write it in the spelling of names. */
export function toSymbolName(text: string): SymbolName {
  const pair = text.trim().replace(/[/_-](?!\d{6}$)/g, '')
  return toUpper(pair.replace(/[/-]/, '_'))
}
