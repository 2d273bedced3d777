import { exchangeMayHaveMore } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { DAY_MS, nextOpenTime } from '../candles/intervals.js'
import { seriesName, type WindowRef } from '../candles/series.js'
import { formatDuration, formatTime } from '../candles/text.js'
import { planWindows, timeBefore } from '../candles/time-range.js'
import { formatDate } from '../candles/windows.js'
import { joinNames } from '../mirror/errors.js'
import { knownDates, newestCandle } from '../mirror/status.js'
import type { Plan, Run, SeriesPlan } from './run.js'

/** The error for a range without a candle, with a range that has some. */
export async function noCandles(plan: Plan, run: Run): Promise<KlinesError> {
  const { fromTime, toTime } = plan.range
  const names = joinNames(plan.series.map(({ series }) => seriesName(series)))
  const side = (time: number, open: string) => (Number.isFinite(time) ? new Date(time).toISOString() : open)
  const span = `from ${side(fromTime, 'the beginning')} to ${side(toTime, 'the present')}`
  const suggestions = [...(await findCandles(plan, run)), 'klines start-dates INTERVAL shows which windows there are.']
  return new KlinesError('no_candles', `No candle of ${names} opens ${span}.`, { suggestions })
}

/** The newest candle before a range: of a static service, else of the mirror. */
async function findCandles({ series, range: { fromTime, toTime, now } }: Plan, run: Run): Promise<string[]> {
  const { source, mirror } = run
  const [{ series: one }] = series
  const isAsked = source?.rules.kind === 'static'
  const where = isAsked ? `of ${source.name}` : 'here'
  const before = { fromTime: -Infinity, toTime: fromTime }
  const windows = isAsked ? planWindows(one, knownDates(mirror, one.interval, now), before, now) : []
  const newest = isAsked ? await lastCandle(windows, run) : newestCandle(mirror, one)
  if (newest === undefined || newest >= fromTime) return []
  const length = Math.min(toTime, now) - fromTime
  const [from, to] = [newest - Math.max(0, length), newest + DAY_MS].map(formatDate)
  const age = formatDuration(now - newest)
  const advice = `--from ${from} --to ${to} has some${newerOnes(source?.name ?? mirror.source)}`
  return [`The newest candle ${where} is of ${formatTime(newest)} UTC, ${age} old: ${advice}`]
}

/** When the last candle of these windows opens, ms UTC. A window that cannot be had is passed over. */
async function lastCandle(windows: readonly WindowRef[], { source, mirror, signal }: Run): Promise<number | undefined> {
  for (const window of windows.toReversed()) {
    const read = mirror.read(window)
    const found = read.state === 'cached' ? read : await source?.fetch(window, undefined, signal).catch(() => undefined)
    signal.throwIfAborted()
    const time = found && 'batch' in found ? found.batch?.lastOpenTime : undefined
    if (time !== undefined) return time
  }
  return undefined
}

/** The end of a sentence about the newest candle of a source. */
function newerOnes(baseUrl: string | undefined): string {
  return exchangeMayHaveMore(baseUrl) ? '; --base-url binance may have newer ones.' : '.'
}

export function noWholeCandle([{ series, label }]: readonly Pick<SeriesPlan, 'series' | 'label'>[]): KlinesError {
  const message = `The ${series.interval} candles of the range do not cover a whole ${label.interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, { suggestions: ['--partial keeps candles that are covered in part.'] })
}

/**
 * Throws `no_candles` for intervals whose newest candle closed more than `maxAge` before now, whatever its series: that of a delisted symbol
 * is old for ever. Candles that are as long as `maxAge` or longer may be late by their own length too.
 */
export function checkAge({ series, range: { now } }: Plan, { mirror }: Run, maxAge: string): void {
  const oldest = timeBefore(now, maxAge)
  const all = series.map(one => one.series)
  const lines = [...new Set(all.map(one => one.interval))].flatMap(interval => {
    const times = all.flatMap(one => (one.interval === interval ? (newestCandle(mirror, one) ?? []) : []))
    const closeTime = nextOpenTime(interval, Math.max(...times))
    const nextTime = nextOpenTime(interval, closeTime)
    const dueTime = nextTime - closeTime >= now - oldest ? nextTime : closeTime
    const age = formatDuration(now - closeTime)
    const isOld = times.length > 0 && dueTime < oldest
    return isOld ? [`The newest ${interval} candle closed ${age} ago, at ${formatTime(closeTime)} UTC.`] : []
  })
  const advice = `--max-age is ${maxAge}. The mirror has all that ${mirror.source} has${newerOnes(mirror.source)}`
  if (lines.length > 0) throw new KlinesError('no_candles', lines.join('\n'), { suggestions: [advice] })
}
