import { warningsTo } from '../../download/events.js'
import { mirrorStatus } from '../../download/mirror-status.js'
import { publishMirror } from '../../download/publish.js'
import { listUserMirrors, mirrorFigures } from '../../mirror/user-mirrors.js'
import type { RunContext } from '../base-command.js'
import { type LocationFlags, type NetworkFlags, toLimits } from '../flags/service.js'
import { namedMirror } from '../local-mirror.js'
import { mirrorPublishReport, mirrorReport, type OtherMirror } from '../reports/mirror.js'
import type { Report } from '../reports/report.js'
import type { MirrorObject, MirrorPublishObject } from '../reports/schema.js'
import { ProgressDisplay } from '../terminal/progress.js'

/** `mirror`: what the named mirror has, and the other ones of the user. Throws `window_missing` when there is none, unless `path`. */
export async function runMirror(
  flags: LocationFlags & { path: boolean; json: boolean },
  { signal, warn }: RunContext,
): Promise<Report<MirrorObject>> {
  const { root, files } = namedMirror(flags)
  const isPathAlone = flags.path && !(flags.json && files.exists)
  const location = { baseUrl: flags['base-url'], mirror: flags.mirror }
  const status = isPathAlone
    ? { mirror: root, baseUrl: undefined, windows: 0, cachedBytes: 0, series: [] }
    : await mirrorStatus({ ...location, signal, onEvent: warningsTo(warn) })
  const others: OtherMirror[] = []
  for (const other of isPathAlone ? [] : listUserMirrors()) {
    if (other.root !== root) others.push({ ...other, ...(await mirrorFigures(other.root, signal)) })
  }
  const report = mirrorReport(status, others)
  return flags.path ? { json: report.json, text: () => root } : report
}

const PUBLISHING = { start: 'Checking windows', verb: 'Checking', noun: 'window' }

/** `mirror publish`: makes the mirror a complete tree. */
export async function runMirrorPublish(
  flags: LocationFlags & NetworkFlags,
  context: RunContext,
): Promise<Report<MirrorPublishObject>> {
  const { signal, warn, progressStyle } = context
  const source = flags['base-url'] ?? namedMirror(flags).baseUrl
  const location = { baseUrl: source, mirror: flags.mirror }
  const report = await ProgressDisplay.during(progressStyle, PUBLISHING, ({ events }) =>
    publishMirror({ ...location, ...toLimits(flags), signal, onEvent: events(warn) }),
  )
  return mirrorPublishReport(report)
}
