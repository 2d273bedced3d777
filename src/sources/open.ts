import { marketOf, toAddress } from '../candles/base-url.js'
import { HOUR_MS } from '../candles/intervals.js'
import { Fetcher, type HostRules, type NetworkActivity } from './fetcher.js'
import { ARCHIVE_POLICY, limitPolicy, type RequestLimits, type RetryPolicy, systemClock } from './retry.js'
import type { Source } from './source.js'
import type { SourceClock } from './static.js'

interface OpenSourceOptions extends Pick<SourceClock, 'now'> {
  /** Requests at once. */
  readonly concurrency: number
  readonly policy: RetryPolicy
  readonly limits: RequestLimits
  /** The host of the exchange's archive, if it may be used. */
  readonly archiveUrl?: string | undefined
  readonly onActivity?: (activity: NetworkActivity) => void
  readonly warn: (warning: string) => void
}

/** Opens the source of a name, as `toSourceName` returns it; sends no request. */
export async function openSource(name: string, options: OpenSourceOptions): Promise<Source> {
  const { concurrency, policy, limits, onActivity, now, warn } = options
  // undici takes 25 ms to load, so offline commands do without.
  const { HttpTransport } = await import('./transport.js')
  const address = toAddress(name)
  // A user who allows more time means the silence before an answer too.
  const idleMs = limits.timeout === undefined ? undefined : policy.attemptMs
  const transport = new HttpTransport(address, { connections: concurrency, idleMs })
  const { origin } = new URL(address)
  const open = (rules?: HostRules) => new Fetcher(transport, name, { concurrency, policy, rules, origin, onActivity })
  const clock = { now, observe: clockNoter(now, warn) }
  const market = marketOf(name)
  if (!market) return (await import('./static.js')).staticSource(open(), clock)
  const { exchangeSource } = await import('./exchange.js')
  const { exchangeRules } = await import('./exchange-api.js')
  // Limits and bans last as long as they do, whatever present the user names.
  const fetcher = open(exchangeRules(name, market, systemClock.now))
  const { archiveUrl } = options
  if (archiveUrl === undefined) return exchangeSource(fetcher, market, clock, warn)
  const { Archive } = await import('./archive/archive.js')
  const { ZIPS_AT_ONCE } = await import('./archive/zips.js')
  const zips = new Fetcher(new HttpTransport(archiveUrl, { connections: ZIPS_AT_ONCE, idleMs }), archiveUrl, {
    concurrency: ZIPS_AT_ONCE,
    origin: new URL(archiveUrl).origin,
    policy: limitPolicy(ARCHIVE_POLICY, limits),
    partOf: fetcher,
  })
  return exchangeSource(fetcher, market, clock, warn, (answers, firsts) => new Archive(zips, answers, firsts, warn))
}

/** Says once when the clock of a service differs by more than an hour from this machine's. */
function clockNoter(now: () => number, warn: OpenSourceOptions['warn']): (skewMs: number) => void {
  let isNoted = false
  return skewMs => {
    if (isNoted || Math.abs(skewMs) <= HOUR_MS) return
    isNoted = true
    const [service, machine] = [now() + skewMs, now()].map(time => new Date(time).toISOString().slice(0, 16))
    const which = 'The earlier time decides which windows are final.'
    warn(`The clocks differ: the service says ${service}Z, this machine ${machine}Z. ${which}`)
  }
}
