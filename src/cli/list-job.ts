import { type Catalogue, readCatalogue } from '../download/catalogue.js'
import type { Interval } from '../klines/intervals.js'
import type { ListReport } from './catalogue-report.js'
import type { RunContext } from './klines-command.js'
import { startEndpoint } from './sample.js'

/** What the list commands share: the lists from where the flags say, then what one of them makes of these. */
export async function runListJob(
  flags: { 'base-url'?: string | undefined; mirror?: string | undefined },
  { signal, warn }: RunContext,
  report: (catalogue: Catalogue) => ListReport,
  intervals?: readonly Interval[],
): Promise<ListReport> {
  const endpoint = await startEndpoint(flags['base-url'])
  try {
    return report(await readCatalogue({ baseUrl: endpoint.baseUrl, mirror: flags.mirror, signal, warn }, intervals))
  } finally {
    await endpoint.close()
  }
}
