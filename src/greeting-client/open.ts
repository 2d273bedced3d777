import { GREETING_BASE_URL, isExchange, type LocalEndpoint, parseBaseUrl } from '../http/base-url.js'
import { KlinesError } from '../klines/errors.js'
import { GreetingClient } from './client.js'

/** The most requests at once; a running stream is one of them. */
const CONNECTIONS = 16

/** Which greeting service to open. */
export interface GreetingOptions {
  /** Its base address, the part before `/api`. Default: the address of `klines serve`. */
  readonly baseUrl?: string | LocalEndpoint | undefined
  /** The longest silence while a response is expected, ms. Default 15 s. */
  readonly idleMs?: number | undefined
}

/** Opens a client of the greeting API; the caller closes it. Throws `bad_base_url`. */
export async function openGreetingClient(options: GreetingOptions = {}): Promise<GreetingClient> {
  const { baseUrl = GREETING_BASE_URL, idleMs } = options
  const local = typeof baseUrl === 'object'
  const name = local ? baseUrl.name : parseAddress(baseUrl)
  // undici takes 25 ms to load.
  const { HttpTransport } = await import('../http/transport/transport.js')
  const transport = new HttpTransport(local ? baseUrl.url : name, { connections: CONNECTIONS, direct: local, idleMs })
  return new GreetingClient(transport, name)
}

function parseAddress(text: string): string {
  if (!isExchange(text.trim())) return parseBaseUrl(text)
  const message = `"${text.trim()}" is the exchange, which has candles alone. Expected the address of a server of the greeting API.`
  const suggestions = [`klines serve starts one, at ${GREETING_BASE_URL} by default.`]
  throw new KlinesError('bad_base_url', message, { suggestions })
}
