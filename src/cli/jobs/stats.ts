import { systemClock } from '../../http/system-clock.js'
import { type SeriesStats, StatsBuilder } from '../../klines/audit/stats.js'
import { KlinesError } from '../../klines/errors.js'
import { type Series, windowOf } from '../../klines/series.js'
import { plural, trimPeriod } from '../../klines/text.js'
import type { Mirror } from '../../mirror/mirror.js'
import { planVerification } from '../../verify/plan.js'
import type { RunContext } from '../base-command.js'
import type { TableFlags } from '../flags/selection.js'
import { cachedSeries } from '../local-mirror.js'
import type { Report } from '../reports/report.js'
import { statsReport } from '../reports/stats.js'

/** `stats`. Throws `incomplete` at a corrupt window: figures without it would be wrong. */
export async function runStats(symbols: string[], flags: TableFlags, { warn }: RunContext): Promise<Report> {
  const { mirror, series } = await cachedSeries(symbols, flags, warn)
  await noteMissingWindows(mirror, series, warn)
  const stats = series.map(name => computeStats(mirror, name))
  return statsReport(mirror.root, stats, flags)
}

/** Statistics without some windows are not wrong, but a reader must know. */
async function noteMissingWindows(mirror: Mirror, series: readonly Series[], warn: RunContext['warn']): Promise<void> {
  const open = series.filter(name => !mirror.contents.missingMeansEmpty(name))
  for (const { symbol, interval, startDates } of await planVerification(mirror, open, {
    now: systemClock.now(),
    warn,
  })) {
    const missing = startDates.length - mirror.contents.startDates({ symbol, interval }).length
    if (missing > 0)
      warn(`${symbol} ${interval}: ${plural(missing, 'window')} of its time not cached, which counts as a gap here.`)
  }
}

function computeStats(mirror: Mirror, series: Series): SeriesStats {
  const builder = new StatsBuilder(series)
  for (const startDate of mirror.contents.startDates(series)) {
    const window = mirror.windows.readInPlace(windowOf(series, startDate))
    if (window.state === 'corrupt')
      throw new KlinesError('incomplete', `Corrupt in the mirror: ${trimPeriod(window.error.message)}.`)
    if (window.state === 'cached') builder.add(window.batch)
  }
  return builder.result
}
