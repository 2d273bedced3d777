import { seriesStatuses } from '../../../mirror/status.js'
import { listUserMirrors, mirrorFigures } from '../../../mirror/user-mirrors.js'
import type { RunContext } from '../../base-command.js'
import type { LocationFlags } from '../../flags/location.js'
import { namedMirror, openNamedSource } from '../../local-mirror.js'
import { mirrorListReport, mirrorStatusReport } from '../../reports/mirror.js'
import type { Report } from '../../reports/report.js'

/** `mirror status`. Throws `window_missing` when there is no mirror. */
export function runMirrorStatus(flags: LocationFlags, { warn }: RunContext): Report {
  const { baseUrl } = openNamedSource(flags, warn).info
  const mirror = namedMirror(flags)
  return mirrorStatusReport(mirror.root, baseUrl, seriesStatuses(mirror))
}

/** `mirror list`: those in the cache folder, and the one that the flags name, if it is there. */
export function runMirrorList(flags: LocationFlags): Report {
  const named = namedMirror(flags)
  const all = listUserMirrors()
  if (named.files.exists && !all.some(({ root }) => root === named.root)) {
    all.push({ root: named.root, baseUrl: named.upkeep.readMeta()?.baseUrl })
  }
  const mirrors = all.map(one => ({ ...one, isDefault: one.root === named.root, ...mirrorFigures(one.root) }))
  return mirrorListReport(mirrors, named.root)
}

/** `mirror path`: the folder that the flags name, which may be missing. */
export function runMirrorPath(flags: LocationFlags): Report {
  const { root } = namedMirror(flags)
  return { json: { mirror: root }, text: () => root }
}
