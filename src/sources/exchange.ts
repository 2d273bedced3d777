import type { KlineRow } from '../candles/columns.js'
import { KlinesError } from '../candles/errors.js'
import { isObject } from '../candles/json.js'
import { parseList } from '../candles/lists.js'
import { type Series, seriesName, type WindowRef } from '../candles/series.js'
import { isSymbol, SYMBOL_FORM, sortSymbols } from '../candles/symbols.js'
import { exchangeStartDates, startDateAt, windowSpan } from '../candles/windows.js'
import { hasMoreRows, joinRows, type RenderedWindow, renderWindow } from '../rows/closed-rows.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { decodeWindow } from '../rows/window-codec.js'
import type { Archive, ExchangeAnswers } from './archive/archive.js'
import {
  callsLimitMs,
  findError,
  firstCandleCall,
  NAMES_PATH,
  pageCall,
  TIME_PATH,
  windowCall,
  windowCalls,
} from './exchange-api.js'
import { cleanText, FetchError } from './fetch-error.js'
import type { Fetcher } from './fetcher.js'
import { isTransientStatus } from './retry.js'
import type { Fetched, FetchedList, Source } from './source.js'
import { clockSkew, parseBody, type SourceClock } from './static.js'
import type { WholeResponse } from './transport.js'

/** The Date of an answer has whole seconds. */
const SECOND_MS = 1000

interface FirstCandle {
  readonly openTime: number
  /** Of the window in which it opens. */
  readonly startDate: string
  /** That window, once it was needed; it is used once. */
  window?: Promise<Fetched> | undefined
}

/** The market data of the exchange as windows of the published tree. `open`: its archive, which it checks itself. */
export function exchangeSource(
  fetcher: Fetcher,
  clock: SourceClock,
  warn: (warning: string) => void,
  open?: (exchange: ExchangeAnswers) => Archive,
): Source {
  const firstCandles = new Map<string, Promise<FirstCandle | undefined>>()
  /** The Date of the latest answer, ms UTC. */
  let latest: number | undefined

  /** Only the exchange's clock decides what is closed: an answer without a Date is not later than the latest one. */
  const observe = (response: WholeResponse): number => {
    const date = Date.parse(response.headers.date ?? '')
    if (!Number.isNaN(date)) {
      clock.observe(clockSkew(response, clock.now()))
      latest = Math.max(latest ?? 0, date)
      return date
    }
    if (latest === undefined) throw new FetchError('invalid', 'the answer has no Date')
    return latest
  }
  const get = <T>(path: string, parse: (bytes: Buffer, asked: number) => T, signal: AbortSignal) =>
    fetcher.get({
      path,
      accept: response => {
        const error = findError(response)
        if (error) throw error
        const asked = observe(response)
        return { value: parseBody(response, body => parse(body, asked)), bytes: response.body, asked }
      },
      signal,
    })
  const now = async (signal: AbortSignal): Promise<number> => {
    latest ??= await fetcher.get({
      path: TIME_PATH,
      accept: response => {
        // Any other answer has the exchange's Date too.
        if (isTransientStatus(response.status)) throw findError(response) ?? new FetchError('transient', 'no answer')
        return observe(response)
      },
      signal,
    })
    return latest
  }

  /** Its times are at the latest this machine's present. */
  const toFetched = (bytes: Buffer, batch: KlineBatch, asked: number): Fetched => {
    const time = Math.min(asked, clock.now())
    return { bytes, batch, rendered: time, asked: time }
  }
  /** Requests a window until no further row can come: a host may send fewer. */
  const fetchWindow = async (window: WindowRef, signal: AbortSignal): Promise<Fetched> => {
    const page = (before?: RenderedWindow) => {
      const from = before && before.value.openTime(before.value.length - 1) + 1
      const parse = (body: Buffer, asked: number) => {
        const rows = renderWindow(body, window, asked)
        const joined = before ? joinRows(before, rows, window) : rows
        return { ...joined, hasMore: hasMoreRows(rows.value, window, asked) }
      }
      return get(windowCall(window, from), parse, signal)
    }
    const first = await page()
    let rows = first.value
    while (rows.hasMore) rows = (await page(rows)).value
    return toFetched(rows.bytes, rows.value, first.asked)
  }

  const findFirst = async ({ symbol, interval }: Series, signal: AbortSignal): Promise<FirstCandle | undefined> => {
    const { value: openTime } = await get(firstCandleCall({ symbol, interval }), parseFirstOpenTime, signal)
    return openTime === undefined ? undefined : { openTime, startDate: startDateAt(interval, openTime) }
  }
  const first = (series: Series, signal: AbortSignal): Promise<FirstCandle | undefined> => {
    const name = seriesName(series)
    const found = firstCandles.get(name) ?? findFirst(series, signal)
    firstCandles.set(name, found)
    found.catch(() => firstCandles.delete(name))
    return found
  }
  /** One wrong answer must not cost a whole history: the first candle is compared with its window. */
  const confirm = async (candle: FirstCandle, { symbol, interval }: Series, signal: AbortSignal): Promise<void> => {
    const { openTime, startDate } = candle
    candle.window ??= fetchWindow({ symbol, interval, startDate }, signal)
    candle.window.catch(() => {
      candle.window = undefined
    })
    const earliest = (await candle.window).batch.firstOpenTime ?? openTime
    if (earliest >= openTime) return
    const [named, earlier] = [openTime, earliest].map(time => new Date(time).toISOString())
    throw new FetchError('invalid', `the exchange named ${named} as the first candle, and has one of ${earlier}`)
  }

  const knownFirst = (series: Series) => firstCandles.get(seriesName(series))?.catch(() => undefined)
  const archive = open?.({
    fetch: fetchWindow,
    page: async (series, span, signal) => (await get(pageCall(series, span), parsePage, signal)).value,
    firstTime: async series => (await knownFirst(series))?.openTime ?? -Infinity,
    now: () => Math.min(latest ?? Infinity, clock.now()),
  })

  return {
    name: fetcher.name,
    rules: { kind: 'exchange' },
    traffic: fetcher,
    archive,
    now,
    symbols: async (signal): Promise<FetchedList> => {
      const { value, bytes, asked } = await get(NAMES_PATH, parseNames, signal)
      const unusable = value.filter(name => !isSymbol(name))
      const shown = unusable.slice(0, 5).map(name => `"${cleanText(name, 20)}"`)
      if (shown.length > 0)
        warn(
          `Names (${unusable.length}) that are not ${SYMBOL_FORM}, in upper case, are left out: ${shown.join(', ')}.`,
        )
      return { names: sortSymbols(value.filter(isSymbol)), bytes, asked, served: asked }
    },
    /** The calendar, for the whole history of the exchange. */
    startDates: async (interval, signal): Promise<FetchedList> => {
      const served = await now(signal)
      const names = exchangeStartDates(interval, served)
      return { names, bytes: Buffer.from(JSON.stringify(names)), asked: served, served }
    },
    fetch: async (window, _cached, signal) => {
      const known = await knownFirst(window)
      if (known && windowSpan(window).endTime <= known.openTime) {
        await confirm(known, window, signal)
        const bytes = Buffer.from('[]')
        return toFetched(bytes, decodeWindow(bytes, window), await now(signal))
      }
      const archived = await archive?.fetch(window, signal)
      if (archived) return archived
      if (known?.startDate !== window.startDate || known.window === undefined) return fetchWindow(window, signal)
      const fetched = known.window
      // Once, because it may change.
      known.window = undefined
      return fetched
    },
    firstCandle: async (series, signal) => (await first(series, signal))?.openTime,
    cost: (missing, open = []) => {
      const { windows = 0, zips = 0, calls = 0 } = archive?.cost(missing) ?? {}
      const { interval } = missing[0] ?? open[0] ?? { interval: '1d' }
      const all = calls + (missing.length - windows + open.length) * windowCalls(interval)
      return { requests: zips + all, limitMs: callsLimitMs(all) }
    },
    close: async () => {
      await Promise.all([fetcher.close(), archive?.close()])
    },
  }
}

function parsePage(bytes: Uint8Array): KlineRow[] {
  const rows = parseList(bytes, 'The page of candles')
  if (rows.every(row => Array.isArray(row) && Number.isSafeInteger(row[0]))) return rows as KlineRow[]
  throw new KlinesError('bad_window', 'the page of candles has something else than rows')
}

function parseNames(bytes: Uint8Array): string[] {
  const list = "The exchange's list of symbols"
  return parseList(bytes, list).map((entry, index) => {
    if (isObject(entry) && typeof entry.symbol === 'string') return entry.symbol
    throw new KlinesError('bad_list', `${list} is refused: entry ${index} has no symbol.`, { data: { kind: 'shape' } })
  })
}

/** The open time of the one candle of an answer of `servedMs`, ms UTC: a later one would make all windows empty. */
function parseFirstOpenTime(bytes: Buffer, servedMs: number): number | undefined {
  const rows = parseList(bytes, 'The answer for the first candle')
  if (rows.length === 0) return undefined
  const [row] = rows
  const openTime: unknown = Array.isArray(row) ? row[0] : undefined
  const isTime = typeof openTime === 'number' && Number.isSafeInteger(openTime)
  if (rows.length === 1 && isTime && openTime <= servedMs + SECOND_MS) return openTime
  const found = `${rows.length} rows, from ${Number(openTime)} on`
  throw new KlinesError('bad_window', `the answer for the first candle has ${found}; expected one, in the past`)
}
