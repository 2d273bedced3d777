import { KlinesError } from './errors.js'
import { didYouMean, nearest } from './suggest.js'

/** The public instance of the klines service. */
export const PUBLIC_BASE_URL = 'https://finom.github.io/static-klines'

/** Where `klines serve` serves the greeting API by default. */
export const GREETING_BASE_URL = 'http://127.0.0.1:8787'

/** Stands for the sample data of the package; its mirror and files carry this name. */
export const SAMPLE = 'sample'

/** Stands for the exchange; `binance:URL` for another host that speaks the same API. */
export const BINANCE = 'binance'

/** Market data alone, without a key: https://github.com/binance/binance-spot-api-docs, faqs/market_data_only.md. */
const BINANCE_HOST = 'https://data-api.binance.vision'

/** The archive of zips: https://github.com/binance/binance-public-data. */
const ARCHIVE_HOST = 'https://data.binance.vision'

/** The address of the archive for a source, if it has one. Throws `bad_base_url`, and `bad_option` where a source cannot have one. */
export function toArchiveAddress(url: string | undefined, name: string): string | undefined {
  if (url === undefined) return name === BINANCE ? ARCHIVE_HOST : undefined
  if (!isExchange(name)) {
    const message = `--archive-url names an archive of ${BINANCE}, and this run downloads from ${name}, which has none.`
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
  if (text === BINANCE || text === SAMPLE) return text
  if (!isExchange(text)) return parseBaseUrl(text, '', guessSource(text))
  const address = parseBaseUrl(toAddress(text), `${BINANCE}:`)
  return address === BINANCE_HOST ? BINANCE : `${BINANCE}:${address}`
}

const EXCHANGE_SITE = /^(https?:\/\/)?((www|data|data-api|api[\d-]*)\.)?binance\.?(?<ending>com|vision|us)([:/].*)?$/i

/** The source that a text stands for which is no address of one: a site of the exchange, or a misspelt name. */
function guessSource(text: string): string | undefined {
  const ending = EXCHANGE_SITE.exec(text)?.groups?.ending.toLowerCase()
  if (ending) return ending === 'us' ? `${BINANCE}:https://api.binance.us` : BINANCE
  return nearest(text.toLowerCase(), [BINANCE, SAMPLE])
}

/** Whether a name that `toSourceName` returned is the exchange. */
export function isExchange(name: string | undefined): boolean {
  return name === BINANCE || name?.startsWith(`${BINANCE}:`) === true
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
  if (name === BINANCE) return BINANCE_HOST
  return isExchange(name) ? name.slice(BINANCE.length + 1) : name
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
const EXPECTED_HOST = `Expected ${BINANCE} or an address after ${BINANCE}:, such as ${BINANCE}:https://api.binance.com`

/** Normalizes a base address: no slash at its end. `prefix`: written before it; `source`: what was meant. Throws `bad_base_url`. */
export function parseBaseUrl(text: string, prefix: '' | `${typeof BINANCE}:` = '', source?: string): string {
  const trimmed = text.trim()
  // `localhost:8787` parses as a URL of the scheme `localhost:`.
  const url = URL.canParse(trimmed) && !/^[\w.-]+:\d+(\/|$)/.test(trimmed) ? new URL(trimmed) : undefined
  const fail = (reason: string, guess = source) => {
    const shown = prefix + hideCredentials(text)
    const expected = prefix === '' ? EXPECTED : EXPECTED_HOST
    const suggestions = didYouMean(prefix + text, guess && prefix + guess, toSourceName)
    throw new KlinesError('bad_base_url', `"${shown}" is not a base address: ${reason}. ${expected}.`, { suggestions })
  }
  if (source) return fail('it is no static klines service')
  if (!url) return fail('it is not a URL', addScheme(trimmed))
  if (url.username || url.password) return fail('a user name or password in it would be stored')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fail(`it begins with ${url.protocol}`)
  if (url.search || url.hash) return fail('it has a query or a fragment')
  const path = url.pathname.replace(/\/+$/, '')
  const root = path.replace(/\/api(\/klines|\/v3)?$/, '')
  if (root !== path) return fail('it includes /api', url.origin + root)
  return url.origin + path
}

/** The address of a host without a scheme, unless it is one of the exchange. With a port, or in the local network, it may have no https. */
function addScheme(host: string): string | undefined {
  if (/^(localhost|[\d.]+|[\w.-]+:\d+)(\/[^@]*)?$/.test(host)) return `http://${host}`
  return /^(?!.*binance)([\w-]+\.)+[a-z]{2,}(\/[^@]*)?$/i.test(host) ? `https://${host}` : undefined
}
