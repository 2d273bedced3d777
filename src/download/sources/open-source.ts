import { isExchange, toSourceName } from '../../http/base-url.js'
import { checkLimits, RETRY_POLICY } from '../../http/retry.js'
import type { NetworkActivity } from '../../http/retrying-fetcher.js'
import { systemClock } from '../../http/system-clock.js'
import { KlinesError } from '../../klines/errors.js'
import { openKlinesClient } from '../../klines-client/client.js'
import { Mirror } from '../../mirror/mirror.js'
import { defaultMirrorRoot } from '../../mirror/user-mirrors.js'
import { toWarn } from '../events.js'
import { ExchangeCatalogue } from './exchange-catalogue.js'
import { MirrorSource } from './mirror-source.js'
import { ServiceSource } from './service-source.js'
import type { SourceOptions, SourceUse } from './source-options.js'
import { StaticCatalogue } from './static-catalogue.js'
import type { Warn, WindowSource } from './window-source.js'

export const DEFAULT_CONCURRENCY = 16
/** A polite pace: 4 at once are some 40 requests a second, of the 50 that the exchange allows to all programs of an address. */
const EXCHANGE_CONCURRENCY = 4
const MAX_CONCURRENCY = 256

/** The mirror of these options. */
export function openMirror({ mirror, baseUrl }: Pick<SourceOptions, 'mirror' | 'baseUrl'>): Mirror {
  if (mirror === '') throw new KlinesError('bad_option', '`mirror` is empty. Expected the name of a folder.')
  const source = baseUrl === undefined && mirror !== undefined ? undefined : toSourceName(baseUrl)
  return new Mirror(mirror ?? defaultMirrorRoot(toSourceName(baseUrl)), source)
}

/**
 * Windows from the service through its mirror, or from the mirror alone when `offline`. Closing the source ends all requests;
 * it makes none, and creates no mirror, before it is asked for a list. Throws `bad_option` and `mirror_mismatch`.
 */
export function openSource(options: SourceOptions & { offline?: undefined }, use?: SourceUse): Promise<ServiceSource>
export function openSource(
  options: SourceOptions & { offline?: boolean | undefined },
  use?: SourceUse,
): Promise<WindowSource>
export async function openSource(
  options: SourceOptions & { offline?: boolean | undefined },
  { policy = RETRY_POLICY, ...use }: SourceUse = {},
): Promise<WindowSource> {
  const { baseUrl, signal = new AbortController().signal } = options
  const now = options.now === undefined ? systemClock.now : () => options.now as number
  const mirror = openMirror(options)
  const warn = warnOnce(toWarn(options))
  if (options.offline) return new MirrorSource(mirror, { baseUrl, now: now(), warn })
  const isOfExchange = isExchange(toSourceName(baseUrl))
  const concurrency = parseConcurrency(
    options.concurrency ?? (isOfExchange ? EXCHANGE_CONCURRENCY : DEFAULT_CONCURRENCY),
  )
  checkLimits(options)
  const onActivity = (activity: NetworkActivity) => options.onEvent?.({ type: 'network', ...activity })
  const host = { baseUrl, concurrency, policy, limits: options, now, onActivity }
  const using = { ...options, ...use, now, signal, warn }
  if (isOfExchange) {
    const { openExchangeClient } = await import('../../exchange-client/client.js')
    const exchange = await openExchangeClient({ ...host, warn })
    return new ServiceSource(exchange, new ExchangeCatalogue(exchange, mirror, using), mirror, using)
  }
  const client = await openKlinesClient(host)
  return new ServiceSource(client, new StaticCatalogue(client, mirror, using), mirror, using)
}

/** The number of requests at once. Throws `bad_option`. */
function parseConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY) return concurrency
  throw new KlinesError(
    'bad_option',
    `\`concurrency\` is ${concurrency}. Expected a whole number from 1 to ${MAX_CONCURRENCY}.`,
  )
}

/** Passes each text on once. */
export function warnOnce(warn: Warn = () => {}): Warn {
  const seen = new Set<string>()
  return warning => {
    if (seen.has(warning)) return
    seen.add(warning)
    warn(warning)
  }
}
