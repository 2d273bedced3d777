import { KlinesError } from '../../../klines/errors.js'
import { formatBytes, plural } from '../../../klines/text.js'
import { clearMirror, planClear, type Removal } from '../../../mirror/prune.js'
import type { RunContext } from '../../base-command.js'
import type { LocationFlags } from '../../flags/location.js'
import { requireMirror } from '../../local-mirror.js'
import { removalReport } from '../../reports/removal.js'
import type { Report } from '../../reports/report.js'
import type { ClearObject } from '../../reports/schema.js'
import { confirm, isInteractive } from '../../terminal/confirm.js'

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
  if (yes || (await isConfirmed(planClear(mirror), signal))) return removalReport(clearMirror(mirror))
  return { json: { mirror: mirror.root, removed: [], bytes: 0 }, text: () => 'Nothing removed.' }
}

async function isConfirmed({ mirror, paths, bytes }: Removal, signal: AbortSignal): Promise<boolean> {
  if (!isInteractive()) {
    const message = `mirror clear asks before it removes ${plural(paths.length, 'file')} of ${mirror}, and there is no terminal.`
    throw new KlinesError('bad_option', message, { suggestions: ['--yes removes them without asking.'] })
  }
  return confirm(`Remove ${plural(paths.length, 'file')} (${formatBytes(bytes)}) of the mirror ${mirror}?`, signal)
}
