import { setImmediate as nextTurn } from 'node:timers/promises'
import { planWindows } from '../download/plan.js'
import { MirrorSource } from '../download/sources/mirror-source.js'
import type { Warn } from '../download/sources/window-source.js'
import type { Interval } from '../klines/intervals.js'
import type { Series } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { formatDate, startDateAt } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import type { SeriesWindows } from './series-reader.js'

/** Windows that are planned before other work of this process gets its turn: some milliseconds. */
const WINDOWS_A_TURN = 1_000

/** Which windows are needed. */
export interface PlanOptions {
  /** Default: of each series the time from the first to the last window that is cached, or has the first or last recorded candle. */
  readonly range?: TimeRange | undefined
  /** The present, ms UTC: windows that start later are not needed. */
  readonly now: number
  readonly warn: Warn
}

/** The startDates of the windows that had the first and the last candle of a series when it was downloaded. */
function recordedStartDates(mirror: Mirror, series: Series): string[] {
  const recorded = mirror.record.seriesCandles(series)
  if (!recorded) return []
  return [recorded.firstOpenTime, recorded.lastOpenTime].map(time => startDateAt(series.interval, time))
}

/** The windows of each series that are cached, or that its list names and that have started, in the range; ascending. */
export async function planVerification(
  mirror: Mirror,
  series: readonly Series[],
  { range, now, warn }: PlanOptions,
): Promise<SeriesWindows[]> {
  const source = new MirrorSource(mirror, { now, warn })
  const today = formatDate(now)
  const started = new Map<Interval, string[]>()
  for (const interval of new Set(series.map(({ interval }) => interval))) {
    started.set(
      interval,
      (await source.contents.startDates(interval)).filter(startDate => startDate <= today),
    )
  }
  const plans: SeriesWindows[] = []
  let sinceTurn = 0
  for (const { symbol, interval } of series) {
    const cached = mirror.contents.startDates({ symbol, interval })
    const had = [...new Set([...cached, ...recordedStartDates(mirror, { symbol, interval })])].sort()
    const [first = '', last = ''] = [had[0], had.at(-1)]
    const listed = started.get(interval) ?? []
    const needed = range ? listed : listed.filter(startDate => startDate >= first && startDate <= last)
    const all = [...new Set([...needed, ...had])].sort()
    const windows = range && planWindows({ symbol, interval }, all, range, Infinity)
    plans.push({ symbol, interval, startDates: windows?.map(({ startDate }) => startDate) ?? all })
    sinceTurn += listed.length + cached.length
    if (sinceTurn < WINDOWS_A_TURN) continue
    sinceTurn = 0
    await nextTurn()
  }
  return plans
}
