import { isExchange, type LocalEndpoint, toSourceName } from '../../http/base-url.js'
import { checkLimits, RETRY_POLICY, type RequestLimits, type RetryPolicy } from '../../http/retry.js'
import type { NetworkActivity } from '../../http/retrying-fetcher.js'
import { systemClock } from '../../http/system-clock.js'
import { KlinesError } from '../../klines/errors.js'
import { openKlinesClient } from '../../klines-client/client.js'
import { Mirror } from '../../mirror/mirror.js'
import { defaultMirrorRoot } from '../../mirror/user-mirrors.js'
import { type EventOptions, toWarn } from '../events.js'
import type { FileMemory } from './cache-writer.js'
import { ExchangeCatalogue } from './exchange-catalogue.js'
import { MirrorSource } from './mirror-source.js'
import { ServiceSource } from './service-source.js'
import { StaticCatalogue } from './static-catalogue.js'
import type { Warn, WindowSource } from './window-source.js'

export const DEFAULT_CONCURRENCY = 16
/** A polite pace: 4 at once are some 40 requests a second, of the 50 that the exchange allows to all programs of an address. */
const EXCHANGE_CONCURRENCY = 4
const MAX_CONCURRENCY = 256

/** Where candles come from and where they are stored. */
export interface SourceOptions extends RequestLimits, EventOptions {
  /**
   * Base address of a klines service, the part before `/api`; `binance` for the exchange itself, `binance:URL` for another host
   * of its API. Default: the public instance.
   */
  readonly baseUrl?: string | LocalEndpoint | undefined
  /** Folder of the mirror. Default: a folder for each base address under the platform's cache folder. */
  readonly mirror?: string | undefined
  /** Download final windows again too. */
  readonly refresh?: boolean | undefined
  /**
   * Take a list of start dates or symbols as it is although entries are missing that are known to exist; cached windows are
   * never left out. Default: such a list is `incomplete`.
   */
  readonly acceptList?: boolean | undefined
  /** Download a pattern of the exchange's symbols that matches more than 20. */
  readonly manySymbols?: boolean | undefined
  /** Send more than 50,000 requests to the exchange. */
  readonly manyRequests?: boolean | undefined
  /**
   * Throw `restated`, and store nothing of a window in which the service has changed cached candles, or filled a gap between them.
   * Other windows are stored.
   */
  readonly failOnRestated?: boolean | undefined
  /** Requests at once, 1 to 256. Default 16, and 4 for the exchange. */
  readonly concurrency?: number | undefined
  /** Ends the run; the mirror keeps what was downloaded. */
  readonly signal?: AbortSignal | undefined
  /**
   * The present, ms UTC. Default: the machine's clock.
   * @internal
   */
  readonly now?: number | undefined
}

/** What the source is used for. */
export interface SourceUse {
  /** Store nothing. */
  readonly readOnly?: boolean
  /** Where files go when the mirror cannot be written. */
  readonly memory?: FileMemory
  /** Whether files go to `memory` that would be written through a link, too. Default: that is an error. */
  readonly linkedInMemory?: boolean
  /** How failed requests are repeated where the options do not say it. */
  readonly policy?: RetryPolicy
}

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
  { readOnly = false, memory, linkedInMemory, policy = RETRY_POLICY }: SourceUse = {},
): Promise<WindowSource> {
  const { baseUrl, refresh = false, acceptList = false, manySymbols = false, manyRequests = false } = options
  const { signal = new AbortController().signal } = options
  const now = options.now === undefined ? systemClock.now : () => options.now as number
  const mirror = openMirror(options)
  const warn = warnOnce(toWarn(options))
  if (!options.offline) {
    const isOfExchange = isExchange(toSourceName(baseUrl))
    const concurrency = parseConcurrency(
      options.concurrency ?? (isOfExchange ? EXCHANGE_CONCURRENCY : DEFAULT_CONCURRENCY),
    )
    checkLimits(options)
    const onActivity = (activity: NetworkActivity) => options.onEvent?.({ type: 'network', ...activity })
    const host = { baseUrl, concurrency, policy, limits: options, now, onActivity }
    const listing = { acceptList, manySymbols, manyRequests, refresh, signal, warn, now }
    const { failOnRestated } = options
    const using = { refresh, failOnRestated, readOnly, memory, linkedInMemory, now, signal, warn }
    if (isOfExchange) {
      const { openExchangeClient } = await import('../../exchange-client/client.js')
      const exchange = await openExchangeClient({ ...host, warn })
      return new ServiceSource(exchange, new ExchangeCatalogue(exchange, mirror, listing), mirror, using)
    }
    const client = await openKlinesClient(host)
    return new ServiceSource(client, new StaticCatalogue(client, mirror, listing), mirror, using)
  }
  return new MirrorSource(mirror, { baseUrl, acceptList, now: now(), warn })
}

/** The number of requests at once. Throws `bad_option`. */
export function parseConcurrency(concurrency: number): number {
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
