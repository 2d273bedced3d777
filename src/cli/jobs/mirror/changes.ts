import { parseSelectionText, selectedIntervals, takesSymbol } from '../../../download/selection.js'
import { systemClock } from '../../../http/system-clock.js'
import { EXCHANGE_INTERVALS } from '../../../klines/intervals.js'
import { parseRange } from '../../../klines/time-range.js'
import type { RunContext } from '../../base-command.js'
import type { LocationFlags } from '../../flags/location.js'
import type { RangeFlags } from '../../flags/selection.js'
import { requireMirror } from '../../local-mirror.js'
import { mirrorChangesReport } from '../../reports/changes.js'
import type { Report } from '../../reports/report.js'
import type { ChangesObject } from '../../reports/schema.js'
import { resolveRange } from '../../resolve-flags.js'

/** `mirror changes`. Throws `window_missing` when there is no mirror, and `linked_path` for a file of changes that is a link. */
export function runMirrorChanges(
  symbols: readonly string[] = ['all'],
  { interval = ['all'], ...flags }: LocationFlags & RangeFlags & { interval?: string[] },
  { warn, given }: RunContext,
): Report<ChangesObject> {
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
