import { type Repair, repairMirror } from '../../../download/repair.js'
import { checkMirror, type MirrorCheckReport } from '../../../mirror/check.js'
import { ALL_SERIES } from '../../../mirror/links.js'
import type { Mirror } from '../../../mirror/mirror.js'
import type { RunContext } from '../../base-command.js'
import { ExitCode } from '../../error-report.js'
import type { LocationFlags } from '../../flags/location.js'
import { type NetworkFlags, toLimits } from '../../flags/network.js'
import { requireMirror } from '../../local-mirror.js'
import { mirrorCheckReport } from '../../reports/mirror.js'
import type { Report } from '../../reports/report.js'
import type { VerifyObject } from '../../reports/schema.js'
import { openAddress } from '../../service-address.js'
import { ProgressDisplay } from '../../terminal/progress.js'

const CHECKING = { start: 'Checking files', verb: 'Checking', noun: 'file' }
const REPAIRING = { start: 'Repairing files', verb: 'Repairing', noun: 'file' }

/** `mirror verify`: reads every file, and with `repair` fetches corrupt ones again. */
export async function runMirrorCheck(
  flags: LocationFlags & NetworkFlags & { repair: boolean },
  context: RunContext,
): Promise<Report<VerifyObject> & { exitCode: ExitCode }> {
  const mirror = requireMirror(flags, context.warn)
  if (flags.repair) mirror.upkeep.refuseLinks(ALL_SERIES)
  const { signal, progressStyle } = context
  const check = await ProgressDisplay.during(progressStyle, CHECKING, ({ advance }) =>
    checkMirror(mirror, { signal, progress: advance }),
  )
  const repair =
    flags.repair && check.corrupt.length > 0
      ? await ProgressDisplay.during(progressStyle, REPAIRING, display =>
          repairFiles(mirror, check, flags, context, display),
        )
      : undefined
  return { ...mirrorCheckReport(check, repair), exitCode: findExitCode(check, repair) }
}

/** Fetches from the address that the flags name, else from the one that the mirror itself names. */
async function repairFiles(
  mirror: Mirror,
  { corrupt }: MirrorCheckReport,
  flags: LocationFlags & NetworkFlags,
  { signal, warn }: RunContext,
  { advance, network }: ProgressDisplay,
): Promise<Repair> {
  const address = await openAddress(flags['base-url'] ?? mirror.upkeep.readMeta()?.baseUrl)
  try {
    const location = { baseUrl: address.baseUrl, mirror: mirror.root }
    const options = { ...location, ...toLimits(flags), signal, warn, network }
    return await repairMirror(options, corrupt, advance)
  } finally {
    await address.close()
  }
}

function findExitCode({ corrupt }: MirrorCheckReport, repair: Repair | undefined): ExitCode {
  if (corrupt.length === 0) return ExitCode.Done
  if (repair === undefined) return ExitCode.VerificationFailed
  return repair.failed.length > 0 ? ExitCode.Incomplete : ExitCode.Done
}
