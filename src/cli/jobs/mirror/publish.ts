import { publishMirror } from '../../../download/publish.js'
import type { RunContext } from '../../base-command.js'
import type { LocationFlags } from '../../flags/location.js'
import { type NetworkFlags, toLimits } from '../../flags/network.js'
import { mirrorPublishReport } from '../../reports/mirror.js'
import type { Report } from '../../reports/report.js'
import type { PublishObject } from '../../reports/schema.js'
import { offlineAddress } from '../../service-address.js'
import { ProgressDisplay } from '../../terminal/progress.js'

const CHECKING = { start: 'Checking windows', verb: 'Checking', noun: 'window' }

/** `mirror publish`: makes the mirror a complete tree. */
export async function runMirrorPublish(
  flags: LocationFlags & NetworkFlags,
  { signal, warn, progressStyle }: RunContext,
): Promise<Report<PublishObject>> {
  const location = { baseUrl: offlineAddress(flags['base-url']).baseUrl, mirror: flags.mirror }
  const report = await ProgressDisplay.during(progressStyle, CHECKING, ({ advance, network }) =>
    publishMirror({ ...location, ...toLimits(flags), signal, warn, network, progress: advance }),
  )
  return mirrorPublishReport(report)
}
