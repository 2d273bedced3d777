import { KlinesError } from '../../../klines/errors.js'
import { plural } from '../../../klines/text.js'
import { type Pruning, pruneMirror } from '../../../mirror/prune.js'
import type { RunContext } from '../../base-command.js'
import type { LocationFlags } from '../../flags/location.js'
import { requireMirror } from '../../local-mirror.js'
import { removalReport } from '../../reports/removal.js'
import type { Report } from '../../reports/report.js'
import type { PruneObject } from '../../reports/schema.js'
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
  if (planned.windows > 0 && !yes && !(await isConfirmed(planned, signal))) {
    return { json: { dryRun, mirror: mirror.root, removed: [], bytes: 0 }, text: () => 'Nothing removed.' }
  }
  return pruneReport(pruneMirror(mirror), false)
}

/** A list that lost entries must not cost the windows that it no longer names. */
async function isConfirmed({ mirror, windows }: Pruning, signal: AbortSignal): Promise<boolean> {
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
