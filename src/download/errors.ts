import { exchangeMayHaveMore } from '../http/base-url.js'
import { KlinesError } from '../klines/errors.js'
import { DAY_MS, INTERVALS, type Interval } from '../klines/intervals.js'
import { seriesName, windowName } from '../klines/series.js'
import { formatTime, plural } from '../klines/text.js'
import type { RequestedRange } from '../klines/time-range.js'
import type { SeriesRange } from './plan.js'
import type { SourceInfo, WindowFailure } from './sources/window-source.js'

/** The most names that an error lists; the rest is counted. */
const MAX_NAMES = 3
/** The most causes that an error lists, because every body may have one of its own. */
const MAX_CAUSES = 5

/** What errors say about an export that came to nothing; a caller that exports for something else says what became of that. */
export const NOT_EXPORTED = 'nothing was exported'
const NOT_WRITTEN = 'nothing is written'

/**
 * The error for windows that could not be downloaded or read: a line for each distinct cause, with a count and the first names.
 * `forExport` says that nothing is exported either.
 */
export function incomplete(
  failures: readonly WindowFailure[],
  total: number,
  { advice, offline }: Pick<SourceInfo, 'advice' | 'offline'>,
  forExport = false,
): KlinesError {
  const causes = new Map<string, WindowFailure[]>()
  for (const failure of failures) causes.set(failure.reason, [...(causes.get(failure.reason) ?? []), failure])
  const sorted = [...causes].sort(([, a], [, b]) => b.length - a.length)
  const lines = sorted.slice(0, MAX_CAUSES).map(([reason, failed]) => {
    return `${failed.length} x ${reason} (${joinNames(failed.map(({ window }) => windowName(window)))})`
  })
  if (sorted.length > MAX_CAUSES)
    lines.push(`and ${sorted.length - MAX_CAUSES} other causes; \`error.data\` names every window`)
  const fault = offline ? 'are missing or corrupt' : 'could not be downloaded'
  const head = `${failures.length} of ${total} windows ${fault}${forExport ? `, so ${NOT_EXPORTED}` : ''}:`
  return new KlinesError('incomplete', [head, ...lines].join('\n'), {
    data: { failures: failures.map(({ window, reason }) => ({ ...window, reason })) },
    suggestions: [advice],
  })
}

/** The error for a list of the service that lacks entries which exist. `missing`: their names. */
export function incompleteList(list: string, missing: readonly string[], baseUrl: string): KlinesError {
  return new KlinesError('incomplete', `${list} of ${baseUrl} is incomplete: it lacks ${joinNames(missing)}.`, {
    data: { baseUrl, missing },
    suggestions: ['Nothing was downloaded. Try again later.'],
  })
}

/** Where a symbol may be that a source does not have: the exchange has some 3,500. None for the exchange itself and the sample. */
export function otherSource(baseUrl: string | undefined): string[] {
  return exchangeMayHaveMore(baseUrl) ? ["The exchange may have it: `baseUrl: 'binance'`."] : []
}

/** The error for 1m, 3m or 5m from a source that lacks them. `source`: its name as the start of a sentence. */
export function noMinutes(interval: Interval, source: string, cause?: unknown): KlinesError {
  const message = `${source} has no ${interval} candles. Expected one of ${INTERVALS.join(', ')}.`
  return new KlinesError('unknown_interval', message, {
    cause,
    suggestions: [
      "The exchange has 1m, 3m and 5m: `baseUrl: 'binance'`.",
      ...(interval === '1m' ? ['Did you mean 1M (a month)?'] : []),
    ],
    data: { interval },
  })
}

/** The first names, and how many more there are. */
export function joinNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return names.slice(0, MAX_NAMES).join(', ') + more
}

/** The error for a range without a candle. `consequence`: what is not done therefore. */
export function noCandles(
  { series, range }: { readonly series: readonly Pick<SeriesRange, 'series'>[]; readonly range: RequestedRange },
  { newest, baseUrl }: Pick<SourceInfo, 'newest' | 'baseUrl'>,
  consequence = NOT_WRITTEN,
): KlinesError {
  const names = joinNames(series.map(({ series }) => seriesName(series)))
  const side = (time: number, open: string) => (Number.isFinite(time) ? new Date(time).toISOString() : open)
  const span = `from ${side(range.fromTime, 'the beginning')} to ${side(range.toTime, 'the present')}`
  const times = series.flatMap(({ series }) => newest(series) ?? [])
  const latest = Math.max(...times)
  const age = Math.floor((range.now - latest) / DAY_MS)
  const isOld = times.length > 0 && latest < range.fromTime && age >= 2
  const other = exchangeMayHaveMore(baseUrl) ? "; `baseUrl: 'binance'` may have newer ones." : '.'
  const ages = isOld
    ? [`The newest candle here is of ${formatTime(latest)} UTC, ${plural(age, 'day')} old${other}`]
    : []
  return new KlinesError('no_candles', `No candle of ${names} opens ${span}; ${consequence}.`, {
    suggestions: [...ages, 'klines start-dates INTERVAL shows which windows there are.'],
  })
}
