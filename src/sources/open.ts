import { isExchange, SAMPLE, toAddress } from './base-url.js'
import { systemClock } from './clock.js'
import { Fetcher, type HostRules, type NetworkActivity } from './fetcher.js'
import { limitPolicy, type RequestLimits, type RetryPolicy } from './retry.js'
import type { Source } from './source.js'
import type { SourceClock } from './static.js'

/** How a source is used. */
export interface OpenSourceOptions extends SourceClock {
  /** Requests at once. */
  readonly concurrency: number
  /** How failed requests are repeated where `limits` do not say it. */
  readonly policy: RetryPolicy
  readonly limits: RequestLimits
  readonly onActivity?: (activity: NetworkActivity) => void
  readonly warn: (warning: string) => void
}

/** Opens the source of a name, as `toSourceName` returns it; sends no request. Throws `bad_option`. */
export async function openSource(name: string, options: OpenSourceOptions): Promise<Source> {
  const { concurrency, limits, onActivity, warn } = options
  const policy = limitPolicy(options.policy, limits)
  if (name === SAMPLE) return (await import('./sample.js')).sampleSource(options)
  // undici takes 25 ms to load, so offline commands do without.
  const { HttpTransport } = await import('./transport.js')
  const address = toAddress(name)
  // A user who allows more time means the silence before an answer too.
  const idleMs = limits.timeout === undefined ? undefined : policy.attemptMs
  const transport = new HttpTransport(address, { connections: concurrency, idleMs })
  const { origin } = new URL(address)
  const open = (rules?: HostRules) => new Fetcher(transport, name, { concurrency, policy, rules, origin, onActivity })
  if (!isExchange(name)) return (await import('./static.js')).staticSource(open(), options)
  const [{ exchangeSource }, { exchangeRules }] = await Promise.all([
    import('./exchange.js'),
    import('./exchange-limits.js'),
  ])
  // Limits and bans last as long as they do, whatever present the user names.
  return exchangeSource(open(exchangeRules(name, systemClock.now)), options, warn)
}
