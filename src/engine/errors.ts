import { KlinesError } from '../candles/errors.js'
import { DAY_MS, INTERVALS, type Interval } from '../candles/intervals.js'
import { seriesName } from '../candles/series.js'
import { formatTime, plural } from '../candles/text.js'
import { joinNames } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { newestCandle } from '../mirror/status.js'
import { exchangeMayHaveMore, SAMPLE } from '../sources/base-url.js'
import type { Source } from '../sources/source.js'
import type { Run } from './run.js'
import type { Plan, SeriesPlan } from './windows.js'

/** Throws `incomplete` for symbols of the mirror that its source does not know any more. */
export function checkGone({ gone }: Plan, { source, mirror }: Run): void {
  if (gone.length === 0) return
  const [it, its] = gone.length === 1 ? ['it', 'its'] : ['them', 'their']
  const message = `${source?.name} does not know ${joinNames(gone)} any more; everything else is done.`
  const folders = `${its} folders below ${mirror.root}: api/klines/*/SYMBOL and .klines/*/SYMBOL.json`
  const suggestions = [`The mirror keeps ${it}. To remove ${it}, remove ${folders}.`]
  throw new KlinesError('incomplete', message, { data: { baseUrl: source?.name, missing: gone }, suggestions })
}

/** Where a symbol may be that a source does not have: the exchange has some 3,500. None for the exchange itself and the sample. */
export function otherSource(baseUrl: string | undefined): string[] {
  return exchangeMayHaveMore(baseUrl) ? ['The exchange may have it: --base-url binance.'] : []
}

/** A source without 1m, 3m and 5m as the start of a sentence. */
export function nameService({ name }: Source): string {
  return name === SAMPLE ? 'The sample' : `The static klines service at ${name}`
}

/** The error for 1m, 3m or 5m from what lacks them. `source`: its name as the start of a sentence. */
export function noMinutes(interval: Interval, source: string, cause?: unknown): KlinesError {
  const message = `${source} has no ${interval} candles. Expected one of ${INTERVALS.join(', ')}.`
  const near = interval === '1m' ? ['Did you mean 1M (a month)?'] : []
  const suggestions = ['The exchange has 1m, 3m and 5m: --base-url binance.', ...near]
  return new KlinesError('unknown_interval', message, { cause, suggestions, data: { interval } })
}

export function noCandles({ series, range }: Plan, mirror: Mirror): KlinesError {
  const names = joinNames(series.map(({ series }) => seriesName(series)))
  const side = (time: number, open: string) => (Number.isFinite(time) ? new Date(time).toISOString() : open)
  const span = `from ${side(range.fromTime, 'the beginning')} to ${side(range.toTime, 'the present')}`
  const suggestions = ['klines start-dates INTERVAL shows which windows there are.']
  const latest = Math.max(...series.map(({ series }) => newestCandle(mirror, series) ?? Number.NEGATIVE_INFINITY))
  const age = Math.floor((range.now - latest) / DAY_MS)
  if (Number.isFinite(latest) && latest < range.fromTime && age >= 2) {
    const other = exchangeMayHaveMore(mirror.source) ? '; --base-url binance may have newer ones.' : '.'
    suggestions.unshift(`The newest candle here is of ${formatTime(latest)} UTC, ${plural(age, 'day')} old${other}`)
  }
  return new KlinesError('no_candles', `No candle of ${names} opens ${span}; nothing is written.`, { suggestions })
}

export function noWholeCandle([{ series, label }]: readonly SeriesPlan[]): KlinesError {
  const message = `The ${series.interval} candles of the range do not cover a whole ${label.interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, { suggestions: ['--partial keeps candles that are covered in part.'] })
}
