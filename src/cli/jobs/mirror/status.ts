import { parseSelectionText, selectedIntervals, takesSymbol } from '../../../download/selection.js'
import { systemClock } from '../../../http/system-clock.js'
import { EXCHANGE_INTERVALS } from '../../../klines/intervals.js'
import { parseRange } from '../../../klines/time-range.js'
import { seriesStatuses } from '../../../mirror/status.js'
import { listUserMirrors, mirrorFigures } from '../../../mirror/user-mirrors.js'
import type { RunContext } from '../../base-command.js'
import type { RangeFlags } from '../../flags/selection.js'
import type { LocationFlags } from '../../flags/service.js'
import { namedMirror, openNamedSource, requireMirror } from '../../local-mirror.js'
import { mirrorChangesReport } from '../../reports/changes.js'
import { mirrorListReport, mirrorStatusReport } from '../../reports/mirror.js'
import type { Report } from '../../reports/report.js'
import type {
  MirrorChangesObject,
  MirrorListObject,
  MirrorPathObject,
  MirrorStatusObject,
} from '../../reports/schema.js'
import { resolveRange } from '../../resolve-flags.js'

/** `mirror status`. Throws `window_missing` when there is no mirror. */
export function runMirrorStatus(flags: LocationFlags, { warn }: RunContext): Report<MirrorStatusObject> {
  const { baseUrl } = openNamedSource(flags, warn).info
  const mirror = namedMirror(flags)
  return mirrorStatusReport(mirror.root, baseUrl, seriesStatuses(mirror))
}

/** `mirror list`: those in the cache folder, and the one that the flags name, if it is there. */
export function runMirrorList(flags: LocationFlags): Report<MirrorListObject> {
  const named = namedMirror(flags)
  const all = listUserMirrors()
  if (named.files.exists && !all.some(({ root }) => root === named.root)) {
    all.push({ root: named.root, baseUrl: named.upkeep.readMeta()?.baseUrl })
  }
  const mirrors = all.map(one => ({ ...one, isDefault: one.root === named.root, ...mirrorFigures(one.root) }))
  return mirrorListReport(mirrors, named.root)
}

/** `mirror path`: the folder that the flags name, which may be missing. */
export function runMirrorPath(flags: LocationFlags): Report<MirrorPathObject> {
  const { root } = namedMirror(flags)
  return { json: { mirror: root }, text: () => root }
}

/** `mirror changes`. Throws `window_missing` when there is no mirror, and `linked_path` for a file of changes that is a link. */
export function runMirrorChanges(
  symbols: readonly string[] = ['all'],
  { interval = ['all'], ...flags }: LocationFlags & RangeFlags & { interval?: string[] },
  { warn, given }: RunContext,
): Report<MirrorChangesObject> {
  const selection = parseSelectionText(symbols, interval)
  const intervals = selectedIntervals(selection, EXCHANGE_INTERVALS)
  const { fromTime, toTime } = parseRange(resolveRange(flags, given), systemClock.now())
  const { root, changes } = requireMirror(flags, warn)
  const all = changes.read()
  const selected = all.changes.filter(
    ({ symbol, interval, openTime }) =>
      takesSymbol(selection, symbol) && intervals.includes(interval) && openTime >= fromTime && openTime < toTime,
  )
  return mirrorChangesReport(root, { ...all, changes: selected, others: all.changes.length - selected.length })
}
