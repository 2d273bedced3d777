import { type LocalEndpoint, toSourceName } from '../http/base-url.js'
import { limitPolicy, type RequestLimits, toMs } from '../http/request-limits.js'
import type { RetryPolicy } from '../http/retry.js'
import { type NetworkActivity, RetryingFetcher } from '../http/retrying-fetcher.js'
import { KlinesClient } from './client.js'

/** Which klines service, and how it is used. */
export interface KlinesClientOptions {
  readonly baseUrl: string | LocalEndpoint | undefined
  /** Requests at once. */
  readonly concurrency: number
  /** How failed requests are repeated where `limits` do not say it. */
  readonly policy: RetryPolicy
  readonly limits: RequestLimits
  /** The present, ms UTC. */
  readonly now: () => number
  readonly onActivity?: ((activity: NetworkActivity) => void) | undefined
}

/** A client of a klines service. Throws `bad_base_url`. */
export async function openKlinesClient({
  baseUrl,
  concurrency,
  policy,
  limits,
  now,
  onActivity,
}: KlinesClientOptions): Promise<KlinesClient> {
  const isLocal = typeof baseUrl === 'object'
  const name = toSourceName(baseUrl)
  // undici takes 25 ms to load, so offline commands do without.
  const { HttpTransport } = await import('../http/transport.js')
  const { timeout, maxRate } = limits
  const transport = new HttpTransport(isLocal ? baseUrl.url : name, {
    connections: concurrency,
    direct: isLocal,
    // A user who allows more time means the silence before an answer too.
    idleMs: timeout === undefined ? undefined : toMs(timeout),
  })
  const fetcher = new RetryingFetcher(transport, name, {
    concurrency,
    maxRate,
    policy: limitPolicy(policy, limits),
    onActivity,
  })
  return new KlinesClient(fetcher, now)
}
