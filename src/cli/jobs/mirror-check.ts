import { type Repair, repairMirror } from '../../download/repair.js'
import { checkMirror, type MirrorCheckReport } from '../../mirror/check.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { RunContext } from '../base-command.js'
import { startEndpoint } from '../endpoint.js'
import { ExitCode } from '../exit-codes.js'
import type { LocationFlags } from '../flags.js'
import { requireMirror } from '../local-mirror.js'
import { mirrorCheckReport } from '../reports/mirror-check.js'
import type { Report } from '../reports/report.js'
import type { VerifyObject } from '../reports/schema.js'
import { type Count, showCount } from '../terminal/progress.js'

/** `mirror verify`: reads every file, and with `repair` fetches corrupt ones again. */
export async function runMirrorCheck(
  flags: LocationFlags & { repair: boolean },
  context: RunContext,
): Promise<Report<VerifyObject> & { exitCode: ExitCode }> {
  const mirror = requireMirror(flags, context.warn)
  const check = await withCount(context, progress => checkMirror(mirror, { signal: context.signal, progress }))
  const repair =
    flags.repair && check.corrupt.length > 0
      ? await withCount(context, progress => repairFiles(mirror, check, flags, context, progress))
      : undefined
  return { ...mirrorCheckReport(check, repair), exitCode: findExitCode(check, repair) }
}

/** Work on many files, whose progress is shown. */
async function withCount<T>({ progressStyle }: RunContext, work: (count: Count) => Promise<T>): Promise<T> {
  const display = await showCount(progressStyle, 'files')
  try {
    return await work(display.count)
  } finally {
    display.done()
  }
}

/** Fetches from the address that the flags name, else from the one that the mirror itself names. */
async function repairFiles(
  mirror: Mirror,
  { corrupt }: MirrorCheckReport,
  flags: LocationFlags,
  { signal, warn }: RunContext,
  count: Count,
): Promise<Repair> {
  const endpoint = await startEndpoint(flags['base-url'] ?? mirror.readMeta()?.baseUrl)
  try {
    return await repairMirror({ baseUrl: endpoint.baseUrl, mirror: mirror.root, signal, warn }, corrupt, count)
  } finally {
    await endpoint.close()
  }
}

function findExitCode({ corrupt }: MirrorCheckReport, repair: Repair | undefined): ExitCode {
  if (corrupt.length === 0) return ExitCode.Done
  if (repair === undefined) return ExitCode.VerificationFailed
  return repair.failed.length > 0 ? ExitCode.Incomplete : ExitCode.Done
}
