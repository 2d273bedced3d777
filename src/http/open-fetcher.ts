import { findBanFile } from './ban-file.js'
import { SAMPLE, toAddress, toSourceName } from './base-url.js'
import type { HostRules } from './host-demands.js'
import { limitPolicy, type RequestLimits, type RetryPolicy, toMs } from './retry.js'
import { type NetworkActivity, RetryingFetcher } from './retrying-fetcher.js'
import { SAMPLE_FILES } from './transport/sample-files.js'
import type { HttpTransport } from './transport/transport.js'

/** Which service, and how it is used. */
export interface ServiceOptions {
  readonly baseUrl: string | undefined
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
  const name = toSourceName(baseUrl)
  const isSample = name === SAMPLE
  const transport = isSample ? SAMPLE_FILES : await openTransport(toAddress(name), concurrency, limits)
  return new RetryingFetcher(transport, name, {
    concurrency,
    policy: limitPolicy(policy, limits),
    rules,
    banFile: isSample ? undefined : findBanFile(toAddress(name)),
    onActivity,
  })
}

async function openTransport(address: string, connections: number, { timeout }: RequestLimits): Promise<HttpTransport> {
  // undici takes 25 ms to load, so offline commands do without.
  const { HttpTransport } = await import('./transport/transport.js')
  // A user who allows more time means the silence before an answer too.
  return new HttpTransport(address, { connections, idleMs: timeout === undefined ? undefined : toMs(timeout) })
}
