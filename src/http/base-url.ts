import { KlinesError } from '../klines/errors.js'

/** The public instance of the klines service. */
export const PUBLIC_BASE_URL = 'https://finom.github.io/static-klines'

/** Where `klines serve` serves the greeting API by default. */
export const GREETING_BASE_URL = 'http://127.0.0.1:8787'

/** Stands for the sample data of the package where a base address is expected; its mirror and files carry this name. */
export const SAMPLE = 'sample'

/** A server in this process: requests go to `url`, mirrors and files record `name`. */
export interface LocalEndpoint {
  readonly name: string
  readonly url: string
}

/** A base address as mirrors and files record it. Default: the public instance. Throws `bad_base_url`. */
export function toSourceName(baseUrl: string | LocalEndpoint = PUBLIC_BASE_URL): string {
  return typeof baseUrl === 'string' ? parseBaseUrl(baseUrl) : baseUrl.name
}

/** Whether a text can be a name that `toSourceName` returns. */
export function isSourceName(text: unknown): text is string {
  if (typeof text !== 'string') return false
  if (/^[\w.-]+$/.test(text)) return true
  try {
    return parseBaseUrl(text) === text
  } catch {
    return false
  }
}

/** Hides the user name and password of an address, also where it is not a valid one. */
export function hideCredentials(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/*)?.*@/is, '$1***@')
}

const EXPECTED = 'Expected an http or https address, the part before /api, such as https://example.com/klines'

/** Normalizes a base address: no slash, query or fragment at its end. Throws `bad_base_url`. */
export function parseBaseUrl(text: string): string {
  // `localhost:8787` parses as a URL of the scheme `localhost:`.
  const isUrl = URL.canParse(text.trim()) && !/^[\w.-]+:\d+(\/|$)/.test(text.trim())
  const url = isUrl ? new URL(text.trim()) : undefined
  const fail = (reason: string, suggestions: string[] = []) => {
    const shown = hideCredentials(text)
    throw new KlinesError('bad_base_url', `"${shown}" is not a base address: ${reason}. ${EXPECTED}.`, { suggestions })
  }
  if (!url)
    return fail('it is not a URL', /^[\w.-]+(:\d+)?(\/[^@]*)?$/.test(text) ? [`Did you mean http://${text}?`] : [])
  if (url.username || url.password) return fail('a user name or password in it would be stored')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fail(`it begins with ${url.protocol}`)
  if (url.search || url.hash) return fail('it has a query or a fragment')
  const path = url.pathname.replace(/\/+$/, '')
  if (/\/api(\/klines)?$/.test(path))
    return fail('it includes /api', [`Did you mean ${url.origin}${path.replace(/\/api(\/klines)?$/, '')}?`])
  return url.origin + path
}
