import { compareDecimals, formatChange, trimDecimal } from '../candles/decimals.js'
import { DAY_MS } from '../candles/intervals.js'
import { formatCount, formatTime, plural } from '../candles/text.js'
import { formatDate } from '../candles/windows.js'
import { parseTargetInterval, type TargetInterval } from '../rows/target-interval.js'
import type { ChartCandle, FittedCandles } from './candle-fitter.js'
import { PriceScale } from './price-scale.js'

/** What a picture says and shows, in a terminal as in a file. Prices are the exact text of the source. */
export type ChartSummary = NonNullable<ReturnType<typeof summarize>>

export function candlesOf({ slots }: FittedCandles): ChartCandle[] {
  return slots.flatMap(({ candle }) => (candle ? [candle] : []))
}

/** With a logarithmic price axis if `log`; undefined when there is no candle. */
export function summarize(fitted: FittedCandles, log = false) {
  const candles = candlesOf(fitted)
  if (candles.length === 0) return undefined
  const [first, last] = [candles[0], candles[candles.length - 1]]
  // The first candle that reaches the highest price, and the first one that reaches the lowest.
  const high = candles.reduce((best, candle) => (compareDecimals(candle.high, best.high) > 0 ? candle : best))
  const low = candles.reduce((best, candle) => (compareDecimals(candle.low, best.low) < 0 ? candle : best))
  // From the first open to the last close: `+13.15%`; undefined when the first open is 0.
  const change = formatChange(first.open, last.close)
  const digits = Math.max(...[low.low, high.high].map(price => price.split('.')[1]?.length ?? 0))
  const scale = new PriceScale(Number(low.low), Number(high.high), { log, digits })
  const maxVolume = candles.reduce((max, { volume }) => Math.max(max, Number(volume)), 0)
  const [lastText, volumeText] = [trimDecimal(last.close), maxVolume === 0 ? '' : `${formatVolume(maxVolume)} vol`]
  const { series, interval, resampledFrom, missing, short, firstTime: from = first.openTime } = fitted
  const { lastTime: to = last.openTime } = fitted
  // Two times of one series are written alike: with the time of day unless both are midnights.
  const write = from % DAY_MS === 0 && to % DAY_MS === 0 ? formatDate : formatTime
  const span = from === to ? write(from) : `${write(from)} to ${write(to)}`
  const gaps = missing > 0 ? `, ${formatCount(missing)} missing` : ''
  const target = parseTargetInterval(interval)
  const highest = `high ${trimDecimal(high.high)} ${describeTime(target, high.openTime)}`
  const lowest = `low ${trimDecimal(low.low)} ${describeTime(target, low.openTime)}`
  // In parts that a picture may colour or break into lines.
  const title = {
    name: `${series.symbol} ${interval}`,
    range: `${span} UTC, ${plural(fitted.candles, 'candle')}${gaps}${short === undefined ? '' : `, ${short}`}`,
    resampled: resampledFrom && `${resampledFrom} resampled to ${interval}`,
    prices: `${highest}, ${lowest}, last ${lastText}`,
  }
  return { first, last, high, low, change, title, scale, maxVolume, lastText, volumeText }
}

export function isRising({ open, close }: ChartCandle): boolean {
  return compareDecimals(close, open) >= 0
}

function describeTime({ name, length }: TargetInterval, openTime: number): string {
  const date = formatDate(openTime)
  if ('months' in length) {
    if (length.months === 1) return `in ${date.slice(0, 7)}`
    return length.months === 12 ? `in ${date.slice(0, 4)}` : `in the ${name} from ${date.slice(0, 7)}`
  }
  if (length.ms === DAY_MS) return `on ${date}`
  return length.ms < DAY_MS ? `at ${formatTime(openTime)}` : `in the ${name} from ${date}`
}

const UNITS = ['', 'K', 'M', 'B', 'T']

/** `44.9K`: three digits and a unit, without zeros at the end. */
function formatVolume(volume: number): string {
  let [value, unit] = [volume, 0]
  // A value that would be rounded to 1000 belongs to the next unit.
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000
  return `${Number(value.toPrecision(3))}${UNITS[unit]}`
}
