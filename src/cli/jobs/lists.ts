import { type Catalogue, readCatalogue } from '../../download/catalogue.js'
import { openMirror } from '../../download/open-source.js'
import type { Interval } from '../../klines/intervals.js'
import type { RunContext } from '../base-command.js'
import { startEndpoint } from '../endpoint.js'
import type { ListReport } from '../reports/catalogue.js'

/** What the list commands share: the lists from where the flags say, then what one of them makes of these. */
export async function runListJob(
  flags: { 'base-url'?: string | undefined; mirror?: string | undefined },
  { signal, warn }: RunContext,
  report: (catalogue: Catalogue) => ListReport,
  intervals?: readonly Interval[],
): Promise<ListReport> {
  const endpoint = await startEndpoint(flags['base-url'] ?? addressOf(flags.mirror))
  try {
    return report(await readCatalogue({ baseUrl: endpoint.baseUrl, mirror: flags.mirror, signal, warn }, intervals))
  } finally {
    await endpoint.close()
  }
}

/** Where a mirror that was named comes from; undefined when none was, or it does not say. */
function addressOf(mirror: string | undefined): string | undefined {
  return mirror === undefined ? undefined : openMirror({ mirror }).readMeta()?.baseUrl
}
