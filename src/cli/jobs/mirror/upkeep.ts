import { publishMirror } from '../../../download/publish.js'
import { type Repair, repairMirror } from '../../../download/repair.js'
import { KlinesError } from '../../../klines/errors.js'
import { formatBytes, plural } from '../../../klines/text.js'
import { checkMirror, type MirrorCheckReport } from '../../../mirror/check.js'
import type { Mirror } from '../../../mirror/mirror.js'
import { clearMirror, type Pruning, planClear, pruneMirror, type Removal } from '../../../mirror/prune.js'
import type { RunContext } from '../../base-command.js'
import { ExitCode } from '../../error-report.js'
import { type LocationFlags, type NetworkFlags, toLimits } from '../../flags/service.js'
import { namedMirror, requireMirror } from '../../local-mirror.js'
import { mirrorCheckReport, mirrorPublishReport, removalReport } from '../../reports/mirror.js'
import type { Report } from '../../reports/report.js'
import type {
  MirrorClearObject,
  MirrorPruneObject,
  MirrorPublishObject,
  MirrorVerifyObject,
} from '../../reports/schema.js'
import { offlineAddress, withAddress } from '../../service-address.js'
import { confirm, isInteractive } from '../../terminal/confirm.js'
import { ProgressDisplay } from '../../terminal/progress.js'

/**
 * `mirror prune`: asks before it removes windows and files that klines did not write, unless `yes` is set. Throws `bad_option` without a
 * terminal to ask at.
 */
export async function runMirrorPrune(
  flags: LocationFlags & { 'dry-run'?: boolean; yes?: boolean },
  { signal, warn }: RunContext,
): Promise<Report<MirrorPruneObject>> {
  const { 'dry-run': dryRun = false, yes = false } = flags
  const mirror = requireMirror(flags, warn)
  const planned = pruneMirror(mirror, { dryRun: true })
  if (dryRun) return pruneReport(planned, true)
  if (planned.windows + planned.strays > 0 && !yes && !(await confirmPruning(planned, signal))) {
    return { json: { dryRun, mirror: mirror.root, removed: [], bytes: 0 }, text: () => 'Nothing removed.' }
  }
  return pruneReport(pruneMirror(mirror), false)
}

/** A list that lost entries must not cost the windows that it no longer names, and other files are the user's. */
async function confirmPruning({ mirror, windows, strays }: Pruning, signal: AbortSignal): Promise<boolean> {
  const parts = [
    ...(windows > 0 ? [`${plural(windows, 'cached window')} of ${mirror} that the lists do not name`] : []),
    ...(strays > 0 ? [`${plural(strays, 'file')} of ${mirror} that klines did not write`] : []),
  ]
  const what = parts.join(' and ')
  if (!isInteractive()) {
    throw new KlinesError('bad_option', `mirror prune asks before it removes ${what}, and there is no terminal.`, {
      suggestions: ['--dry-run shows them; --yes removes them without asking.'],
    })
  }
  return confirm(`Remove ${what}?`, signal)
}

function pruneReport(removal: Pruning, dryRun: boolean): Report<MirrorPruneObject> {
  const { json, text } = removalReport(removal, dryRun)
  return { json: { dryRun, ...json }, text }
}

/** `mirror clear`: asks first, unless `yes` is set. Throws `bad_option` for `force`, and without a terminal to ask at. */
export async function runMirrorClear(
  { yes = false, force = false, ...flags }: LocationFlags & { yes?: boolean; force?: boolean },
  { signal, warn }: RunContext,
): Promise<Report<MirrorClearObject>> {
  if (force) {
    const suggestions = ['--yes removes the mirror without asking.']
    throw new KlinesError('bad_option', 'mirror clear has no flag --force. Expected --yes.', { suggestions })
  }
  const mirror = requireMirror(flags, warn)
  if (yes || (await confirmClearing(planClear(mirror), signal))) return removalReport(clearMirror(mirror))
  return { json: { mirror: mirror.root, removed: [], bytes: 0 }, text: () => 'Nothing removed.' }
}

async function confirmClearing({ mirror, paths, bytes }: Removal, signal: AbortSignal): Promise<boolean> {
  if (!isInteractive()) {
    const message = `mirror clear asks before it removes ${plural(paths.length, 'file')} of ${mirror}, and there is no terminal.`
    throw new KlinesError('bad_option', message, { suggestions: ['--yes removes them without asking.'] })
  }
  return confirm(`Remove ${plural(paths.length, 'file')} (${formatBytes(bytes)}) of the mirror ${mirror}?`, signal)
}

const CHECKING = { start: 'Checking files', verb: 'Checking', noun: 'file' }
const REPAIRING = { start: 'Repairing files', verb: 'Repairing', noun: 'file' }

/** `mirror verify`: reads every file, and with `repair` fetches corrupt ones again. */
export async function runMirrorCheck(
  flags: LocationFlags & NetworkFlags & { repair: boolean },
  context: RunContext,
): Promise<Report<MirrorVerifyObject> & { exitCode: ExitCode }> {
  const mirror = requireMirror(flags, context.warn)
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
  context: RunContext,
  { advance, events }: ProgressDisplay,
): Promise<Repair> {
  const { signal, warn } = context
  const options = { mirror: mirror.root, ...toLimits(flags), signal, onEvent: events(warn) }
  const source = flags['base-url'] ?? mirror.baseUrl
  return withAddress(source, baseUrl => repairMirror({ baseUrl, ...options }, corrupt, advance))
}

function findExitCode({ corrupt }: MirrorCheckReport, repair: Repair | undefined): ExitCode {
  if (corrupt.length === 0) return ExitCode.Done
  if (repair === undefined) return ExitCode.VerificationFailed
  return repair.failed.length > 0 ? ExitCode.Incomplete : ExitCode.Done
}

const PUBLISHING = { start: 'Checking windows', verb: 'Checking', noun: 'window' }

/** `mirror publish`: makes the mirror a complete tree. */
export async function runMirrorPublish(
  flags: LocationFlags & NetworkFlags,
  context: RunContext,
): Promise<Report<MirrorPublishObject>> {
  const { signal, warn, progressStyle } = context
  const source = flags['base-url'] ?? namedMirror(flags).baseUrl
  const location = { baseUrl: offlineAddress(source), mirror: flags.mirror }
  const report = await ProgressDisplay.during(progressStyle, PUBLISHING, ({ events }) =>
    publishMirror({ ...location, ...toLimits(flags), signal, onEvent: events(warn) }),
  )
  return mirrorPublishReport(report)
}
