import { InvalidSymbolError } from '../../exchange-client/errors.js'
import { FetchError } from '../../http/fetch-error.js'
import { checkLimits, RETRY_POLICY, type RequestLimits } from '../../http/retry.js'
import type { NetworkActivity } from '../../http/retrying-fetcher.js'
import { systemClock } from '../../http/system-clock.js'
import { isKlinesError } from '../../klines/errors.js'
import { seriesName, type WindowRef } from '../../klines/series.js'
import { trimPeriod } from '../../klines/text.js'
import type { Mirror } from '../../mirror/mirror.js'
import { FirstCandles } from './first-candles.js'
import type { Warn, WindowFailure } from './window-source.js'

/** How first candles are requested. */
interface LeadingOptions extends RequestLimits {
  /** The exchange: `binance` or `binance:URL`. */
  readonly baseUrl: string
  readonly signal?: AbortSignal | undefined
  readonly warn?: Warn | undefined
  readonly network?: ((activity: NetworkActivity) => void) | undefined
  /** The present, ms UTC. Default: the machine's clock. */
  readonly now?: number | undefined
}

/** Windows that a mirror lacks: those before the first candle of their series, and the others. */
export interface LeadingWindows {
  readonly empty: readonly WindowRef[]
  readonly failures: readonly WindowFailure[]
}

/**
 * Finds which of the windows that a mirror of the exchange lacks end before the first candle of their series, with a request a
 * series, unless the mirror has candles before. When the exchange cannot be reached, that is why they are missing.
 */
export async function findLeadingWindows(
  mirror: Mirror,
  missing: readonly WindowRef[],
  options: LeadingOptions,
): Promise<LeadingWindows> {
  const { signal = new AbortController().signal, warn = () => {} } = options
  checkLimits(options)
  const now = options.now === undefined ? systemClock.now : () => options.now as number
  const { openExchangeClient } = await import('../../exchange-client/client.js')
  const host = { baseUrl: options.baseUrl, concurrency: 1, policy: RETRY_POLICY, limits: options, now }
  const exchange = await openExchangeClient({ ...host, warn, onActivity: options.network })
  const firstCandles = new FirstCandles(exchange, mirror, { signal, now })
  const [empty, failures]: [WindowRef[], WindowFailure[]] = [[], []]
  /** Why no answer came: for one series, and for every other one after it. */
  const reasons = new Map<string, string>()
  let unreachable: string | undefined
  const findReason = async (window: WindowRef): Promise<string | undefined> => {
    const name = seriesName(window)
    const isBefore = firstCandles.isBefore(window)
    const reason = reasons.get(name) ?? unreachable
    if (isBefore === undefined && reason !== undefined) return reason
    try {
      return (await firstCandles.isEmpty(window)) ? undefined : NOT_CACHED
    } catch (error) {
      const text = `not in the mirror, and the first candle of its series could not be requested: ${describe(error)}`
      if (error instanceof InvalidSymbolError) reasons.set(name, text)
      else unreachable = text
      return text
    }
  }
  try {
    for (const window of missing) {
      const reason = await findReason(window)
      if (reason === undefined) empty.push(window)
      else failures.push({ window, status: 'failed', reason })
    }
  } finally {
    await exchange.fetcher.close()
  }
  return { empty, failures }
}

export const NOT_CACHED = 'not in the mirror'

/** What is wrong with a request, as part of a sentence. Throws what ends the run: a ban, a refusal, an abort. */
function describe(error: unknown): string {
  // A ban or a refusal ends the run; too many faults in a row have a cause.
  const isFault = error instanceof FetchError || (isKlinesError(error, 'unreachable') && error.cause !== undefined)
  if (!isFault) throw error
  return trimPeriod(error.message)
}
