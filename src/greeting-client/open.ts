import { GREETING_BASE_URL, type LocalEndpoint, parseBaseUrl } from '../http/base-url.js'
import { GreetingClient } from './client.js'

/** Requests at once; a stream that is being read takes one of them. */
const CONNECTIONS = 16

/** Which greeting service. */
export interface GreetingOptions {
  /** Its base address, the part before `/api`. Default: where `klines serve` serves. */
  readonly baseUrl?: string | LocalEndpoint | undefined
  /** How long nothing may come while an answer is waited for, ms. Default 15 s. */
  readonly idleMs?: number | undefined
}

/** A client of the greeting API; close it when done. Throws `bad_base_url`. */
export async function openGreetingClient(options: GreetingOptions = {}): Promise<GreetingClient> {
  const { baseUrl = GREETING_BASE_URL, idleMs } = options
  const local = typeof baseUrl === 'object'
  const name = local ? baseUrl.name : parseBaseUrl(baseUrl)
  // undici takes 25 ms to load: only when something is asked for.
  const { HttpTransport } = await import('../http/transport.js')
  const transport = new HttpTransport(local ? baseUrl.url : name, { connections: CONNECTIONS, direct: local, idleMs })
  return new GreetingClient(transport, name)
}
