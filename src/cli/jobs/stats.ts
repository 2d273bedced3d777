import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CoveredSeries, coverSeries } from '../../download/coverage.js'
import { planWindows } from '../../download/plan.js'
import { findFirst } from '../../download/series-ends.js'
import { systemClock } from '../../http/system-clock.js'
import { type SeriesStats, StatsBuilder } from '../../klines/audit/stats.js'
import { KlinesError } from '../../klines/errors.js'
import type { Series, WindowRef } from '../../klines/series.js'
import { plural, trimPeriod } from '../../klines/text.js'
import { parseRequestedRange, type RequestedRange, type TimeRange } from '../../klines/time-range.js'
import type { Mirror } from '../../mirror/mirror.js'
import { planVerification } from '../../verify/plan.js'
import type { RunContext } from '../base-command.js'
import type { RangeFlags, TableFlags } from '../flags/selection.js'
import { cachedSeries } from '../local-mirror.js'
import type { Report } from '../reports/report.js'
import type { StatsObject } from '../reports/schema.js'
import { statsReport } from '../reports/stats.js'
import { resolveRange } from '../resolve-flags.js'

/** After so many windows, signals and timers get a turn. */
const WINDOWS_A_TURN = 32

/** `stats`. Throws `incomplete` at a corrupt window: figures without it would be wrong. */
export async function runStats(
  symbols: string[],
  flags: TableFlags & RangeFlags,
  { signal, warn, given }: RunContext,
): Promise<Report<StatsObject>> {
  const range = parseRequestedRange(resolveRange(flags, given), systemClock.now())
  const { mirror, series } = await cachedSeries(symbols, flags, warn)
  await noteMissingWindows(mirror, series, range, warn)
  const stats: (SeriesStats & CoveredSeries)[] = []
  for (const name of series) {
    const windows = planWindows(name, mirror.contents.startDates(name), range, Infinity)
    const figures = await computeStats(mirror, name, windows, range, signal)
    const coverage = coverSeries(name, range, figures, findFirst(mirror, name))
    stats.push({ ...figures, coverage })
  }
  return statsReport(mirror, stats, range, flags)
}

/** Statistics without some windows are not wrong, but a reader must know. */
async function noteMissingWindows(
  mirror: Mirror,
  series: readonly Series[],
  range: RequestedRange,
  warn: RunContext['warn'],
): Promise<void> {
  const open = series.filter(name => !mirror.contents.missingMeansEmpty(name))
  const { named, now } = range
  const isNamed = named.from !== undefined || named.to !== undefined
  const plans = await planVerification(mirror, open, { range: isNamed ? range : undefined, now, warn })
  for (const { symbol, interval, startDates } of plans) {
    const cached = new Set(mirror.contents.startDates({ symbol, interval }))
    const missing = startDates.filter(startDate => !cached.has(startDate)).length
    if (missing > 0)
      warn(`${symbol} ${interval}: ${plural(missing, 'window')} of its time not cached, which counts as a gap here.`)
  }
}

async function computeStats(
  mirror: Mirror,
  series: Series,
  windows: readonly WindowRef[],
  range: TimeRange,
  signal: AbortSignal,
): Promise<SeriesStats> {
  const builder = new StatsBuilder(series)
  for (const [index, window] of windows.entries()) {
    if (index % WINDOWS_A_TURN === 0) await nextTurn()
    signal.throwIfAborted()
    const read = mirror.windows.readInPlace(window)
    if (read.state === 'corrupt')
      throw new KlinesError('incomplete', `Corrupt in the mirror: ${trimPeriod(read.error.message)}.`)
    if (read.state === 'cached') builder.add(read.batch.slice(range.fromTime, range.toTime))
  }
  return builder.result
}
