import { parseSelectionText } from '../../engine/selection.js'
import { readStats } from '../../verify/stats.js'
import type { RunContext } from '../base-command.js'
import type { RangeFlags, TableFlags } from '../flags/selection.js'
import type { Report } from '../reports/report.js'
import type { StatsObject } from '../reports/schema.js'
import { statsReport } from '../reports/stats.js'
import { resolveRange } from '../resolve-flags.js'
import { warningsTo } from '../terminal/progress.js'

/** `stats`. Throws `incomplete` for a missing or corrupt window: figures without it would be wrong. */
export async function runStats(
  symbols: string[],
  flags: TableFlags & RangeFlags,
  { signal, warn, given }: RunContext,
): Promise<Report<StatsObject>> {
  const { interval, mirror, 'base-url': baseUrl } = flags
  const request = { ...parseSelectionText(symbols, interval), ...resolveRange(flags, given), baseUrl, mirror, signal }
  return statsReport(await readStats({ ...request, onEvent: warningsTo(warn) }), flags)
}
