import { openFetcher, type ServiceOptions } from '../http/open-fetcher.js'
import { KlinesClient } from './client.js'

/** A client of a klines service. Throws `bad_base_url`. */
export async function openKlinesClient(options: ServiceOptions): Promise<KlinesClient> {
  return new KlinesClient(await openFetcher(options), options.now)
}
