import { KlinesError } from '../../../klines/errors.js'
import { formatBytes, plural } from '../../../klines/text.js'
import { clearMirror, type Pruning, planClear, pruneMirror, type Removal } from '../../../mirror/prune.js'
import type { RunContext } from '../../base-command.js'
import type { LocationFlags } from '../../flags/location.js'
import { requireMirror } from '../../local-mirror.js'
import { removalReport } from '../../reports/mirror.js'
import type { Report } from '../../reports/report.js'
import type { ClearObject, PruneObject } from '../../reports/schema.js'
import { confirm, isInteractive } from '../../terminal/confirm.js'

/** `mirror prune`: asks before it removes windows, unless `yes` is set. Throws `bad_option` without a terminal to ask at. */
export async function runMirrorPrune(
  flags: LocationFlags & { 'dry-run'?: boolean; yes?: boolean },
  { signal, warn }: RunContext,
): Promise<Report<PruneObject>> {
  const { 'dry-run': dryRun = false, yes = false } = flags
  const mirror = requireMirror(flags, warn)
  const planned = pruneMirror(mirror, { dryRun: true })
  if (dryRun) return pruneReport(planned, true)
  if (planned.windows > 0 && !yes && !(await confirmPruning(planned, signal))) {
    return { json: { dryRun, mirror: mirror.root, removed: [], bytes: 0 }, text: () => 'Nothing removed.' }
  }
  return pruneReport(pruneMirror(mirror), false)
}

/** A list that lost entries must not cost the windows that it no longer names. */
async function confirmPruning({ mirror, windows }: Pruning, signal: AbortSignal): Promise<boolean> {
  const what = `${plural(windows, 'cached window')} of ${mirror} that the lists do not name`
  if (!isInteractive()) {
    throw new KlinesError('bad_option', `mirror prune asks before it removes ${what}, and there is no terminal.`, {
      suggestions: ['--dry-run shows them; --yes removes them without asking.'],
    })
  }
  return confirm(`Remove ${what}?`, signal)
}

function pruneReport(removal: Pruning, dryRun: boolean): Report<PruneObject> {
  const { json, text } = removalReport(removal, dryRun)
  return { json: { dryRun, ...json }, text }
}

/** `mirror clear`: asks first, unless `yes` is set. Throws `bad_option` for `force`, and without a terminal to ask at. */
export async function runMirrorClear(
  { yes = false, force = false, ...flags }: LocationFlags & { yes?: boolean; force?: boolean },
  { signal, warn }: RunContext,
): Promise<Report<ClearObject>> {
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
