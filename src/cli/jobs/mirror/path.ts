import type { LocationFlags } from '../../flags/location.js'
import { namedMirror } from '../../local-mirror.js'
import type { Report } from '../../reports/report.js'

/** `mirror path`: the folder that the flags name, which may be missing. */
export function runMirrorPath(flags: LocationFlags): Report {
  const { root } = namedMirror(flags)
  return { json: { mirror: root }, text: () => root }
}
