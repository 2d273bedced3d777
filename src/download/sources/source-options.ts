import type { RequestLimits, RetryPolicy } from '../../http/retry.js'
import type { EventOptions } from '../events.js'
import type { CacheWriterOptions } from './cache-writer.js'
import type { MirrorWriterOptions } from './mirror-writer.js'

/** Where candles come from and where they are stored. */
export interface SourceOptions extends RequestLimits, EventOptions {
  /**
   * Base address of a klines service, the part before `/api`; `binance` for the exchange itself, `binance:URL` for another host
   * of its API. Default: the public instance.
   */
  readonly baseUrl?: string | undefined
  /** Folder of the mirror. Default: a folder for each base address under the platform's cache folder. */
  readonly mirror?: string | undefined
  /** Download final windows again too. */
  readonly refresh?: boolean | undefined
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
export interface SourceUse extends Omit<CacheWriterOptions, 'warn'> {
  /** How failed requests are repeated where the options do not say it. */
  readonly policy?: RetryPolicy
}

/** What the parts of a source are told of its options. */
export interface ServiceSourceOptions extends MirrorWriterOptions, Pick<SourceOptions, 'refresh'> {}
