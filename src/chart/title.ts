import { DAY_MS } from '../candles/intervals.js'
import { formatCount, formatTime, plural } from '../candles/text.js'
import { formatDate } from '../candles/windows.js'
import { trimDecimal } from '../rows/decimals.js'
import { parseTargetInterval, type TargetInterval } from '../rows/target-interval.js'
import type { FittedCandles } from './chart-candle.js'
import type { ChartSummary } from './summary.js'

/** The texts of a picture, in parts that it may colour or break into lines. */
export interface ChartTitle {
  /** `BTCUSDT 1d`. */
  readonly name: string
  /** `2026-03-01 to 2026-04-29 UTC, 60 candles, 53 missing`. */
  readonly range: string
  /** `15m resampled to 1d`. */
  readonly resampled: string | undefined
  /** `+13.15%`. */
  readonly change: string | undefined
  /** `high 79485.66 on 2026-04-27, low 65000 on 2026-03-29, last 75780`. */
  readonly prices: string
}

/** The texts of a picture with these candles and their summary. */
export function buildTitle(fitted: FittedCandles, summary: ChartSummary): ChartTitle {
  const { series, interval, resampledFrom, candles, missing, firstTime, lastTime } = fitted
  const target = parseTargetInterval(interval)
  const { high, low, last, change } = summary
  const [from, to] = [firstTime ?? summary.first.openTime, lastTime ?? last.openTime]
  // Two times of one series are written alike: with the time of day unless all of them are midnights.
  const isDaily = from % DAY_MS === 0 && to % DAY_MS === 0
  const write = isDaily ? formatDate : formatTime
  const gaps = missing > 0 ? `, ${formatCount(missing)} missing` : ''
  const span = from === to ? write(from) : `${write(from)} to ${write(to)}`
  return {
    name: `${series.symbol} ${interval}`,
    range: `${span} UTC, ${plural(candles, 'candle')}${gaps}`,
    resampled: resampledFrom && `${resampledFrom} resampled to ${interval}`,
    change,
    prices: [
      `high ${trimDecimal(high.high)} ${describeCandle(target, high.openTime)}`,
      `low ${trimDecimal(low.low)} ${describeCandle(target, low.openTime)}`,
      `last ${trimDecimal(last.close)}`,
    ].join(', '),
  }
}

/** When a candle is, with a preposition: `at 2026-03-01 13:00`, `on 2026-03-01`, `in 2026-03`, `in 2026`, `in the 3d from ...`. */
function describeCandle({ name, length }: TargetInterval, openTime: number): string {
  const date = formatDate(openTime)
  if ('months' in length) {
    if (length.months === 1) return `in ${date.slice(0, 7)}`
    return length.months === 12 ? `in ${date.slice(0, 4)}` : `in the ${name} from ${date.slice(0, 7)}`
  }
  if (length.ms === DAY_MS) return `on ${date}`
  return length.ms < DAY_MS ? `at ${formatTime(openTime)}` : `in the ${name} from ${date}`
}
