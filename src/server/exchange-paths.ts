import { BINANCE, type Market, marketOf } from '../candles/base-url.js'
import type { KlineRow } from '../candles/columns.js'
import { windowPath } from '../candles/paths.js'
import { type Series, seriesName, windowName, windowOf } from '../candles/series.js'
import { type SymbolName, splitSymbol } from '../candles/symbols.js'
import { planWindows, type TimeRange } from '../candles/time-range.js'
import { consecutiveStartDates, parseDate, windowSpan } from '../candles/windows.js'
import { knownDates } from '../mirror/status.js'
import { Body, type Route, sendBody } from './body.js'
import { EXCHANGE_HEADERS, HttpError } from './errors.js'
import { isFromOtherSite } from './hosts.js'
import type { Tree } from './tree.js'
import type { Upstream } from './upstream.js'

type Query = Readonly<Record<string, string | undefined>>

/** Makes the value of a body. `upstream`: the service, unless a page of another site has caused the request. Throws `HttpError`. */
type Answer = (tree: Tree, upstream: Upstream | undefined, query: Query) => object | Promise<object>

const ANSWERS: Readonly<Record<string, Answer>> = {
  ping: () => ({}),
  time: tree => ({ serverTime: tree.now() }),
  exchangeInfo: answerInfo,
  // The list that klines itself asks an exchange for. A mirror knows no price of the present.
  'ticker/price': async (tree, upstream) => (await findNames(tree, upstream)).map(symbol => ({ symbol })),
}

/**
 * The exchange's own paths over the tree, for bots and libraries that are pointed at this server
 * (https://github.com/binance/binance-spot-api-docs, rest-api.md): those of the mirror's market. The open candle is never served.
 */
export function exchangeRoutes(tree: Tree): Route[] {
  const { api, candles } = servedMarket(tree)
  return Object.entries({ ...ANSWERS, [candles]: answerKlines }).map(([path, answer]) => ({
    method: 'GET',
    url: `/${api}/${path}`,
    handler: async (request, reply) => {
      const query = request.query as Query
      const value = await answer(tree, isFromOtherSite(request.raw) ? undefined : tree.upstream, query)
      return sendBody(request, reply, new Body(Buffer.from(JSON.stringify(value))), EXCHANGE_HEADERS)
    },
  }))
}

/** Another service has candles of the spot market. */
export function servedMarket({ mirror }: Tree): Market {
  return mirror.rules.market ?? (marketOf(BINANCE) as Market)
}

async function answerKlines(tree: Tree, upstream: Upstream | undefined, query: Query): Promise<KlineRow[]> {
  const { mirror } = tree
  const { symbol: parameter, mostRows } = servedMarket(tree)
  const symbol = query[parameter]
  if (!symbol) throw fault(-1102, parameter)
  // Letters of any script, but none of a to z.
  if (!/^(?!.*[a-z])[\p{L}\p{M}\p{N}_.-]{1,50}$/u.test(symbol)) throw fault(-1100, parameter)
  const isKnown = mirror.symbols().includes(symbol) || (await upstream?.symbols())?.includes(symbol)
  if (!isKnown) throw fault(-1121)
  if (!query.interval) throw fault(-1102, 'interval')
  const interval = mirror.intervals.find(name => name === query.interval)
  if (!interval || !(upstream || cachedDates(tree, { symbol, interval }).length > 0)) throw fault(-1120)
  const fromTime = parseNumber(query, 'startTime', -Infinity)
  const toTime = parseNumber(query, 'endTime', Infinity) + 1
  const limit = Math.min(parseNumber(query, 'limit', 500), mostRows)
  // Days of the exchange are those of UTC.
  if (parseNumber(query, 'timeZone', 0) !== 0) throw fault(-1130, 'timeZone')
  return readRows(tree, upstream, { symbol, interval }, { fromTime, toTime, limit })
}

type Page = TimeRange & { readonly limit: number }

/**
 * The first rows of a range; without a start the newest. Takes one window after the other until there are enough. Throws `HttpError` 503
 * where one between others is missing.
 */
async function readRows(tree: Tree, upstream: Upstream | undefined, series: Series, page: Page): Promise<KlineRow[]> {
  const { mirror, now } = tree
  const { fromTime, toTime, limit } = page
  const cached = cachedDates(tree, series)
  const dates = upstream
    ? [...knownDates(mirror, series.interval, now()), ...cached]
    : consecutiveStartDates(series.interval, cached[0], parseDate(cached[cached.length - 1]))
  const windows = planWindows(series, dates, page, now())
  const isNewest = fromTime === -Infinity
  const absent: string[] = []
  let rows: KlineRow[] = []
  let firstCandle = -Infinity
  for (const window of isNewest ? windows.reverse() : windows) {
    if (rows.length === limit) break
    // Windows before the first candle are empty, and not asked for.
    if (upstream && firstCandle === -Infinity && !cached.includes(window.startDate))
      firstCandle = await upstream.firstCandle(series)
    if (windowSpan(window).endTime <= firstCandle) continue
    try {
      const { body, warning } = await tree.file(windowPath(window), upstream !== undefined)
      // A client would take what is cached for all there is.
      if (warning && warning.statusCode !== 404) throw warning
      const all = JSON.parse(String(body.bytes)) as KlineRow[]
      const found = all.filter(([openTime]) => openTime >= fromTime && openTime < toTime)
      rows = isNewest ? [...found, ...rows].slice(-limit) : [...rows, ...found].slice(0, limit)
    } catch (error) {
      if (!(error instanceof HttpError) || error.statusCode !== 404) throw error
      absent.push(window.startDate)
    }
  }
  // A series may begin late or end early.
  const there = cachedDates(tree, series)
  const hole = absent.find(date => date >= there[0] && date <= there[there.length - 1])
  if (hole) throw new HttpError(503, `The window ${windowName(windowOf(series, hole))} is missing in the mirror.`)
  return rows
}

/** Kept for a second: a bot asks for page after page. */
function cachedDates({ mirror }: Tree, series: Series): readonly string[] {
  return mirror.kept(`dates of ${seriesName(series)}`, () => mirror.dates(series))
}

/** Those of `symbol`, or of `symbols` as `["A","B"]`, else all. One whose assets are not known is left out. */
async function answerInfo(tree: Tree, upstream: Upstream | undefined, query: Query): Promise<object> {
  const wanted = (query.symbol ?? query.symbols)?.split(/[[\]",]+/)
  const symbols = (await findNames(tree, upstream)).flatMap(symbol => {
    const assets = splitSymbol(symbol)
    if (!assets || wanted?.includes(symbol) === false) return []
    const entry = { symbol, status: 'TRADING', baseAsset: assets.base, quoteAsset: assets.quote }
    return [{ ...entry, ...(servedMarket(tree).hasContracts && describeContract(symbol)) }]
  })
  if (wanted && symbols.length === 0) throw fault(-1121)
  return { timezone: 'UTC', serverTime: tree.now(), rateLimits: [], exchangeFilters: [], symbols }
}

/** What clients tell contracts by: https://developers.binance.com/docs/derivatives, "Exchange Information". */
function describeContract(symbol: SymbolName): object {
  const [pair, day = ''] = symbol.split('_')
  const contractType = day ? 'CURRENT_QUARTER' : 'PERPETUAL'
  const deliveryDate = day ? Date.parse(`20${day.replace(/(..)(..)/, '$1-$2-')}T08:00Z`) : NO_DELIVERY
  return { pair, contractType, marginAsset: splitSymbol(symbol)?.quote, deliveryDate }
}

/** As the exchange says it, ms UTC. */
const NO_DELIVERY = 4_133_404_800_000

async function findNames(tree: Tree, upstream: Upstream | undefined): Promise<readonly SymbolName[]> {
  return (await upstream?.symbols()) ?? tree.symbols()
}

/** The value of a parameter, which must be a whole number. */
function parseNumber(query: Query, name: string, otherwise: number): number {
  const text = query[name]
  if (text === undefined) return otherwise
  if (!/^\d{1,20}$/.test(text)) throw fault(-1130, name)
  return Number(text)
}

/** Errors of the exchange: errors.md beside rest-api.md. */
const FAULTS = {
  [-1100]: "Illegal characters found in parameter 'NAME'; legal range is '^[\\w\\-._&&[^a-z]]{1,50}$'.",
  [-1102]: "Mandatory parameter 'NAME' was not sent, was empty/null, or malformed.",
  [-1120]: 'Invalid interval.',
  [-1121]: 'Invalid symbol.',
  [-1130]: "Data sent for parameter 'NAME' is not valid.",
}

function fault(code: keyof typeof FAULTS, name = ''): HttpError {
  return new HttpError(400, FAULTS[code].replace('NAME', name), { code })
}
