import { KlinesError } from '../candles/errors.js'
import { DAY_MS, INTERVALS, type Interval } from '../candles/intervals.js'
import { seriesName, windowName } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { formatTime, plural, quoteWord } from '../candles/text.js'
import type { Mirror } from '../mirror/mirror.js'
import { newestCandle } from '../mirror/status.js'
import { describeOtherMirrors } from '../mirror/user-mirrors.js'
import { exchangeMayHaveMore, isExchange, SAMPLE } from '../sources/base-url.js'
import type { Source } from '../sources/source.js'
import type { WindowFailure } from './outcome.js'
import type { Plan } from './series-plan.js'

/** The most names that an error lists; the rest is counted. */
const MAX_NAMES = 3
/** The most causes that an error lists, because every body may have one of its own. */
const MAX_CAUSES = 5

const RUN_AGAIN = 'The mirror keeps what was downloaded; run the same command again to download the rest.'
const DOWNLOAD = 'Download them with klines download, or choose a range that the mirror has with --from and --to.'

/** The first names, and how many more there are. */
export function joinNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return names.slice(0, MAX_NAMES).join(', ') + more
}

/**
 * The error for windows that could not be downloaded or read: a line for each distinct cause, with a count and the first names.
 * `forExport` says that nothing is exported either.
 */
export function incomplete(
  failures: readonly WindowFailure[],
  total: number,
  {
    offline,
    forExport = false,
    advice,
  }: { readonly offline: boolean; readonly forExport?: boolean; readonly advice?: string },
): KlinesError {
  const causes = new Map<string, string[]>()
  for (const { reason, window } of failures) causes.set(reason, [...(causes.get(reason) ?? []), windowName(window)])
  const sorted = [...causes].sort(([, a], [, b]) => b.length - a.length)
  const lines = sorted
    .slice(0, MAX_CAUSES)
    .map(([reason, names]) => `${names.length} x ${reason} (${joinNames(names)})`)
  if (sorted.length > MAX_CAUSES)
    lines.push(`and ${sorted.length - MAX_CAUSES} other causes; --json names every window`)
  const fault = offline ? 'are missing or corrupt' : 'could not be downloaded'
  const head = `${failures.length} of ${total} windows ${fault}${forExport ? ', so nothing was exported' : ''}:`
  return new KlinesError('incomplete', [head, ...lines].join('\n'), {
    data: { failures: failures.map(({ window, reason }) => ({ ...window, reason })) },
    suggestions: [advice ?? (offline ? DOWNLOAD : RUN_AGAIN)],
  })
}

/** The error for a list of the service that lacks entries which exist. `missing`: their names. */
export function incompleteList(list: string, missing: readonly string[], baseUrl: string): KlinesError {
  return new KlinesError('incomplete', `${list} of ${baseUrl} is incomplete: it lacks ${joinNames(missing)}.`, {
    data: { baseUrl, missing },
    suggestions: ['Nothing was downloaded. Try again later.'],
  })
}

/** The error for symbols of a mirror that its source does not know any more, after everything else was done. */
export function goneSymbols(symbols: readonly SymbolName[], baseUrl: string | undefined, mirror: Mirror): KlinesError {
  const [it, its] = symbols.length === 1 ? ['it', 'its'] : ['them', 'their']
  const message = `${baseUrl} does not know ${joinNames(symbols)} any more; everything else is done.`
  const advice = `The mirror keeps ${it}. To remove ${it}, remove ${its} folders below ${mirror.root}: api/klines/*/SYMBOL and .klines/*/SYMBOL.json.`
  return new KlinesError('incomplete', message, { data: { baseUrl, missing: symbols }, suggestions: [advice] })
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
  return new KlinesError('unknown_interval', message, {
    cause,
    suggestions: [
      'The exchange has 1m, 3m and 5m: --base-url binance.',
      ...(interval === '1m' ? ['Did you mean 1M (a month)?'] : []),
    ],
    data: { interval },
  })
}

/** The error for what a mirror lacks: it says how it is downloaded, and which other mirrors there are, after `advice`. */
export function nothingCached(message: string, mirror: Mirror, advice: readonly string[] = []): KlinesError {
  const { source = '' } = mirror
  // The exchange is never the default source, so a download from it names it.
  const address = isExchange(source) ? ` --base-url ${quoteWord(source)}` : ''
  const download = `Download candles first: klines download SYMBOL -i INTERVAL${address}, with the same --mirror.`
  const suggestions = [...advice, ...(mirror.exists ? [] : describeOtherMirrors(mirror.root)), download]
  return new KlinesError('window_missing', message, { suggestions })
}

/** The error for a range without a candle. */
export function noCandles({ series, range }: Plan, mirror: Mirror): KlinesError {
  const names = joinNames(series.map(({ series }) => seriesName(series)))
  const side = (time: number, open: string) => (Number.isFinite(time) ? new Date(time).toISOString() : open)
  const span = `from ${side(range.fromTime, 'the beginning')} to ${side(range.toTime, 'the present')}`
  const times = series.flatMap(({ series }) => newestCandle(mirror, series) ?? [])
  const latest = Math.max(...times)
  const age = Math.floor((range.now - latest) / DAY_MS)
  const isOld = times.length > 0 && latest < range.fromTime && age >= 2
  const other = exchangeMayHaveMore(mirror.source) ? '; --base-url binance may have newer ones.' : '.'
  const ages = isOld
    ? [`The newest candle here is of ${formatTime(latest)} UTC, ${plural(age, 'day')} old${other}`]
    : []
  return new KlinesError('no_candles', `No candle of ${names} opens ${span}; nothing is written.`, {
    suggestions: [...ages, 'klines start-dates INTERVAL shows which windows there are.'],
  })
}
