import { mirrorStatus } from '../../../mirror/status.js'
import type { RunContext } from '../../base-command.js'
import type { LocationFlags } from '../../flags/location.js'
import { namedMirror, openNamedSource } from '../../local-mirror.js'
import { mirrorStatusReport } from '../../reports/mirror.js'
import type { Report } from '../../reports/report.js'

/** `mirror status`. Throws `window_missing` when there is no mirror. */
export function runMirrorStatus(flags: LocationFlags, { warn }: RunContext): Report {
  const { baseUrl } = openNamedSource(flags, warn).info
  const mirror = namedMirror(flags)
  return mirrorStatusReport(mirror.root, baseUrl, mirrorStatus(mirror))
}

/** `mirror path`: the folder that the flags name, which may be missing. */
export function runMirrorPath(flags: LocationFlags): Report {
  const { root } = namedMirror(flags)
  return { json: { mirror: root }, text: () => root }
}
