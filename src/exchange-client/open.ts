import { toSourceName } from '../http/base-url.js'
import { openFetcher, type ServiceOptions } from '../http/open-fetcher.js'
import { systemClock } from '../http/system-clock.js'
import { ExchangeClient } from './client.js'
import { ExchangeRules } from './rules.js'

/** How an exchange is used. */
export interface ExchangeOptions extends ServiceOptions {
  readonly warn: (warning: string) => void
}

/** A client of the exchange. Throws `bad_base_url`. */
export async function openExchangeClient({ warn, ...options }: ExchangeOptions): Promise<ExchangeClient> {
  // Limits and bans last as long as they do, whatever present the user names.
  const rules = new ExchangeRules(toSourceName(options.baseUrl), systemClock.now)
  return new ExchangeClient(await openFetcher(options, rules), warn, options.now)
}
