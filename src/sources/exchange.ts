import type { Market } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import type { Interval } from '../candles/intervals.js'
import { decodeUtf8, isObject, parseObject } from '../candles/json.js'
import { parseList } from '../candles/lists.js'
import type { WindowRef } from '../candles/series.js'
import { isSymbol, SYMBOL_FORM, sortSymbols, unknownSymbols } from '../candles/symbols.js'
import { exchangeStartDates } from '../candles/windows.js'
import type { Archive } from './archive/archive.js'
import { ExchangeAnswers } from './exchange-answers.js'
import { callsLimitMs, InvalidSymbolError, windowCalls } from './exchange-api.js'
import { cleanText } from './fetch-error.js'
import type { Fetcher } from './fetcher.js'
import { FirstCandles } from './first-candles.js'
import { fetchFunding } from './funding.js'
import type { Cost, FetchedList, Source } from './source.js'
import type { SourceClock } from './static.js'

/** A market of the exchange as windows of the published tree. `open`: opens the archive, which its answers check. */
export function exchangeSource(
  fetcher: Fetcher,
  market: Market,
  clock: SourceClock,
  warn: (warning: string) => void,
  open?: (answers: ExchangeAnswers, firstCandles: FirstCandles) => Archive,
): Source {
  const answers = new ExchangeAnswers(fetcher, market, clock)
  const firstCandles = new FirstCandles(answers)
  const archive = open?.(answers, firstCandles)

  return {
    name: fetcher.name,
    rules: { kind: 'exchange', market },
    traffic: fetcher,
    archive,
    now: signal => answers.now(signal),
    symbols: signal => fetchSymbols(answers, warn, signal),
    startDates: (interval, signal) => listStartDates(answers, interval, signal),
    fetch: async (window, _cached, signal) => {
      const known = await firstCandles.fetch(window, signal)
      const fetched = known ?? (await archive?.fetch(window, signal))
      return fetched ?? answers.window(window, signal)
    },
    fetchOn: (window, cached, signal) => answers.window(window, signal, cached),
    firstCandle: (series, signal) => firstCandles.time(series, signal),
    ...(market.hasContracts &&
      !market.isPrice && {
        funding: (symbol, fromTime, toTime, signal) =>
          fetchFunding(answers, symbol, fromTime, toTime, signal).catch(async error => {
            if (!(error instanceof InvalidSymbolError)) throw error
            throw unknownSymbols([symbol], (await fetchSymbols(answers, warn, signal)).names, fetcher.name)
          }),
      }),
    cost: (missing, open = []) => findCost(market, missing, open, archive),
    close: async () => {
      await Promise.all([fetcher.close(), archive?.close()])
    },
  }
}

async function fetchSymbols(
  answers: ExchangeAnswers,
  warn: (warning: string) => void,
  signal: AbortSignal,
): Promise<FetchedList> {
  const { value, bytes, asked } = await answers.get(
    `${answers.market.api}/${answers.market.names}`,
    body => parseNames(body, answers.market),
    signal,
  )
  const unusable = value.filter(name => !isSymbol(name))
  const shown = unusable.slice(0, 5).map(name => `"${cleanText(name, 20)}"`)
  if (shown.length > 0)
    warn(`Names (${unusable.length}) that are not ${SYMBOL_FORM}, in upper case, are left out: ${shown.join(', ')}.`)
  return { names: sortSymbols(value.filter(isSymbol)), bytes, asked, served: asked }
}

/** The calendar, for the whole history of the market. */
async function listStartDates(answers: ExchangeAnswers, interval: Interval, signal: AbortSignal): Promise<FetchedList> {
  const served = await answers.now(signal)
  const names = exchangeStartDates(interval, answers.market.opened, served)
  return { names, bytes: Buffer.from(JSON.stringify(names)), asked: served, served }
}

/** What windows of a series take that are missing, and others that are `open`. */
function findCost(
  market: Market,
  missing: readonly WindowRef[],
  open: readonly WindowRef[],
  archive: Archive | undefined,
): Cost {
  const archived = archive?.cost(missing) ?? { windows: 0, zips: 0, calls: 0 }
  const { interval } = missing[0] ?? open[0] ?? { interval: '1d' }
  const windows = missing.length + open.length - archived.windows
  const calls = archived.calls + windows * windowCalls(interval, market)
  return { requests: archived.zips + calls, limitMs: callsLimitMs(calls, market) }
}

function parseNames(bytes: Uint8Array, { symbol: parameter }: Market): string[] {
  const list = "The exchange's list of symbols"
  const { symbols } = parseObject(decodeUtf8(bytes)) ?? {}
  return (Array.isArray(symbols) ? symbols : parseList(bytes, list)).map((entry, index) => {
    const name = isObject(entry) && entry[parameter]
    if (typeof name === 'string') return name
    throw new KlinesError('bad_list', `${list} is refused: entry ${index} has no symbol.`, { data: { kind: 'shape' } })
  })
}
