import { type LocalEndpoint, toAddress, toSourceName } from './base-url.js'
import type { HostRules } from './host-demands.js'
import { HostLimitFile } from './host-limit.js'
import { limitPolicy, type RequestLimits, type RetryPolicy, toMs } from './retry.js'
import { type NetworkActivity, RetryingFetcher } from './retrying-fetcher.js'
import { systemClock } from './system-clock.js'

/** Which service, and how it is used. */
export interface ServiceOptions {
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

/** A fetcher for the files of a service. Throws `bad_base_url`. */
export async function openFetcher(
  { baseUrl, concurrency, policy, limits, onActivity }: ServiceOptions,
  rules?: HostRules,
): Promise<RetryingFetcher> {
  const isLocal = typeof baseUrl === 'object'
  const name = toSourceName(baseUrl)
  // undici takes 25 ms to load, so offline commands do without.
  const { HttpTransport } = await import('./transport/transport.js')
  const { timeout } = limits
  const transport = new HttpTransport(isLocal ? baseUrl.url : toAddress(name), {
    connections: concurrency,
    direct: isLocal,
    // A user who allows more time means the silence before an answer too.
    idleMs: timeout === undefined ? undefined : toMs(timeout),
  })
  return new RetryingFetcher(transport, name, {
    concurrency,
    policy: limitPolicy(policy, limits),
    rules,
    // A server in this process has an address that another one may get next.
    limitFile: isLocal ? undefined : HostLimitFile.find(toAddress(name), systemClock.now),
    onActivity,
  })
}
