import { KlinesError } from './errors.js'
import { didYouMean, nearest } from './suggest.js'

/** The public instance of the klines service. */
export const PUBLIC_BASE_URL = 'https://finom.github.io/static-klines'

/** Where `klines serve` serves the greeting API by default. */
export const GREETING_BASE_URL = 'http://127.0.0.1:8787'

/** Stands for the sample data of the package; its mirror and files carry this name. */
export const SAMPLE = 'sample'

/** Stands for the exchange's spot market; `binance:URL` for another host that speaks the same API. */
export const BINANCE = 'binance'

/** Its USD-M futures. */
export const USDM = 'binance-usdm'

/** The archive of zips: https://github.com/binance/binance-public-data. */
const ARCHIVE_HOST = 'https://data.binance.vision'

/** A market of the exchange: all in which it differs from the others. */
export interface Market {
  /** What a symbol alone does not say; undefined for the spot market. */
  readonly badge?: string
  readonly host: string
  /** The folder of the paths of its API. */
  readonly api: string
  /** Below it, the path of candles, and its parameter for a symbol. */
  readonly candles: string
  readonly symbol: 'symbol' | 'pair'
  /** Below it, the shortest list of names. */
  readonly names: string
  /** The most rows of an answer, and those that klines asks for: the most for a weight of 2. */
  readonly mostRows: number
  readonly pageRows: number
  /** Half of the weight that an IP address may use in a minute: other programs share it. */
  readonly weightBudget: number
  /** The day before which it has no candle. */
  readonly opened: string
  /** What to do in a region that it does not serve. */
  readonly regionAdvice?: string
  /** Its folder in the archive, and the first day there. */
  readonly archive?: string
  readonly archivedFrom?: string
  /** Whether a whole number may have no point between others that have one. */
  readonly hasBareWholes?: boolean
  /**
   * Whether its symbols are contracts: when one has ended, no list has it, and flat candles may go on. Their 3d candles are counted from
   * other days than those of spot symbols.
   */
  readonly hasContracts?: boolean
  /** Whether its candles are of prices alone: volumes and counts mean nothing. */
  readonly isPrice?: boolean
}

const FUTURES = {
  badge: 'USD-M futures',
  host: 'https://fapi.binance.com',
  api: 'fapi/v1',
  candles: 'klines',
  symbol: 'symbol',
  names: 'exchangeInfo',
  mostRows: 1_500,
  // To 499 rows weigh 2, to 1,000 weigh 5: https://developers.binance.com/docs/derivatives, "Kline/Candlestick Data".
  pageRows: 499,
  weightBudget: 1_200,
  opened: '2019-09-01',
  hasContracts: true,
} as const

/** The markets by the names of their sources. */
const MARKETS: Readonly<Record<string, Market>> = {
  [BINANCE]: {
    // Market data alone, without a key: https://github.com/binance/binance-spot-api-docs, faqs/market_data_only.md.
    host: 'https://data-api.binance.vision',
    api: 'api/v3',
    candles: 'klines',
    symbol: 'symbol',
    // The names and last prices of all symbols, delisted ones too. Weight 4.
    names: 'ticker/price',
    mostRows: 1_000,
    pageRows: 1_000,
    weightBudget: 3_000,
    // The first pairs, on 14 July: https://www.binance.com/en/support/announcement
    opened: '2017-07-01',
    regionAdvice: '--base-url binance is its host for market data alone, which serves more regions.',
    archive: 'spot',
  },
  [USDM]: { ...FUTURES, archive: 'futures/um', archivedFrom: '2019-12-31', hasBareWholes: true },
  [`${USDM}-mark`]: {
    ...FUTURES,
    badge: 'mark prices of USD-M futures',
    candles: 'markPriceKlines',
    isPrice: true,
  },
  [`${USDM}-index`]: {
    ...FUTURES,
    badge: 'index prices of USD-M futures',
    candles: 'indexPriceKlines',
    symbol: 'pair',
    isPrice: true,
  },
}

/** The names of sources beside addresses. */
export const SOURCE_NAMES: readonly string[] = [SAMPLE, ...Object.keys(MARKETS)]

/** The market of a source; undefined for one that is not of the exchange. */
export function marketOf(name = ''): Market | undefined {
  const market = marketName(name)
  return Object.hasOwn(MARKETS, market) ? MARKETS[market] : undefined
}

/** `binance` of `binance:https://api.binance.com`. */
export function marketName(name: string): string {
  return name.replace(/:.*$/s, '')
}

/** The address of the archive for a source, if it has one. Throws `bad_base_url`, and `bad_option` where a source cannot have one. */
export function toArchiveAddress(url: string | undefined, name: string): string | undefined {
  const { archive } = marketOf(name) ?? {}
  if (url === undefined) return archive && marketName(name) === name ? ARCHIVE_HOST : undefined
  if (!archive) {
    const message = `--archive-url names an archive of the exchange, and this run downloads from ${name}, which has none.`
    throw new KlinesError('bad_option', message, { suggestions: [`Leave it out, or add --base-url ${BINANCE}.`] })
  }
  const { protocol = '', username = '', password = '' } = URL.canParse(url) ? new URL(url) : {}
  if (/^https?:$/.test(protocol) && username + password === '') return url.replace(/\/+$/, '')
  const expected = `Expected an http or https address without a password, such as ${ARCHIVE_HOST}`
  throw new KlinesError('bad_base_url', `--archive-url is "${hideCredentials(url)}". ${expected}.`)
}

/** A base address as mirrors and files record it. Default: the public instance. Throws `bad_base_url`. */
export function toSourceName(baseUrl = PUBLIC_BASE_URL): string {
  const text = baseUrl.trim()
  if (SOURCE_NAMES.includes(text)) return text
  const market = marketOf(text)
  if (!market) return parseBaseUrl(text, '', guessSource(text))
  const prefix = `${marketName(text)}:`
  const address = parseBaseUrl(toAddress(text), prefix)
  return address === market.host ? marketName(text) : prefix + address
}

const EXCHANGE_SITE = /^(https?:\/\/)?((www|data|data-api|api[\d-]*)\.)?binance\.?(?<ending>com|vision|us)([:/].*)?$/i

/** The source that a text stands for which is no address of one: a site of the exchange, or a misspelt name. */
function guessSource(text: string): string | undefined {
  const ending = EXCHANGE_SITE.exec(text)?.groups?.ending.toLowerCase()
  if (ending) return ending === 'us' ? `${BINANCE}:https://api.binance.us` : BINANCE
  const isFutures = /^(binance|fapi)|^https?:\/\/fapi\.binance\./i.test(text)
  return nearest(text.toLowerCase(), SOURCE_NAMES) ?? (isFutures ? USDM : undefined)
}

/** Whether a name that `toSourceName` returned is of the exchange. */
export function isExchange(name: string | undefined): boolean {
  return marketOf(name) !== undefined
}

/** Whether the exchange may have candles that a source lacks: not the exchange itself, nor the synthetic sample. */
export function exchangeMayHaveMore(name: string | undefined): boolean {
  return !isExchange(name) && name !== SAMPLE
}

/** A source of candles as the start of a sentence. */
export function nameService(name: string): string {
  return name === SAMPLE ? 'The sample' : `The static klines service at ${name}`
}

/** The address that requests of a source are sent to, without a slash at its end. */
export function toAddress(name: string): string {
  const market = marketOf(name)
  if (!market) return name
  return marketName(name) === name ? market.host : name.slice(marketName(name).length + 1)
}

export function isSourceName(text: unknown): text is string {
  try {
    return typeof text === 'string' && toSourceName(text) === text
  } catch {
    return false
  }
}

/** Hides the user name and password of an address, also where it is not a valid one. */
export function hideCredentials(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/*)?.*@/is, '$1***@')
}

const EXPECTED = 'Expected an http or https address, the part before /api, such as https://example.com/klines'

/** Normalizes a base address: no slash at its end. `prefix`: written before it; `source`: what was meant. Throws `bad_base_url`. */
export function parseBaseUrl(text: string, prefix = '', source?: string): string {
  const trimmed = text.trim()
  // `localhost:8787` parses as a URL of the scheme `localhost:`.
  const url = URL.canParse(trimmed) && !/^[\w.-]+:\d+(\/|$)/.test(trimmed) ? new URL(trimmed) : undefined
  const fail = (reason: string, guess = source) => {
    const shown = prefix + hideCredentials(text)
    const host = `Expected ${marketName(prefix)} or an address after ${prefix}, such as ${prefix}${toAddress(marketName(prefix))}`
    const expected = prefix === '' ? EXPECTED : host
    const suggestions = didYouMean(prefix + text, guess && prefix + guess, toSourceName)
    throw new KlinesError('bad_base_url', `"${shown}" is not a base address: ${reason}. ${expected}.`, { suggestions })
  }
  if (source) return fail('it is no static klines service')
  if (!url) return fail('it is not a URL', addScheme(trimmed))
  if (url.username || url.password) return fail('a user name or password in it would be stored')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fail(`it begins with ${url.protocol}`)
  if (url.search || url.hash) return fail('it has a query or a fragment')
  const path = url.pathname.replace(/\/+$/, '')
  const root = path.replace(/\/f?api(\/klines|\/v\d)?$/, '')
  if (root !== path) return fail(`it includes ${path.includes('/fapi') ? '/fapi' : '/api'}`, url.origin + root)
  return url.origin + path
}

/** The address of a host without a scheme, unless it is one of the exchange. With a port, or in the local network, it may have no https. */
function addScheme(host: string): string | undefined {
  if (/^(localhost|[\d.]+|[\w.-]+:\d+)(\/[^@]*)?$/.test(host)) return `http://${host}`
  return /^(?!.*binance)([\w-]+\.)+[a-z]{2,}(\/[^@]*)?$/i.test(host) ? `https://${host}` : undefined
}
