import { expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { INTERVALS, type Interval, nextOpenTime } from '../../src/candles/intervals.js'
import { SYMBOLS as TEN } from '../../src/candles/symbols.js'
import { exchangeStartDates, parseDate } from '../../src/candles/windows.js'
import { downloadKlines } from '../../src/engine/klines.js'
import { FULL } from '../support/cases.js'
import type { Market } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { tempFolder } from '../support/temp-folder.js'

const SYMBOLS = TEN.slice(0, 2)
const DAY_MS = 86_400_000
const MONDAY = 4 * DAY_MS
/** The published tree is refreshed at this time; a week ends a day later, and the turn of this year ends windows of eight intervals. */
const FIRST_RUN = Date.UTC(2025, 11, 28, 3, 17)
/** With all cases, two more weeks begin and end. */
const LAST_RUN = Date.UTC(2026, 0, FULL ? 12 : 2, 3, 17)
/** Requests that the refresh of one day may take: two windows a series. */
const MOST = 48

/** All candles from the window of the first run on, and the first one of each window before. Those of 1w and 3d open on Mondays. */
function candles(interval: Interval): KlineRow[] {
  const starts = exchangeStartDates(interval, LAST_RUN).map(parseDate)
  const firstOpens = starts.map(start => {
    const step = interval === '1w' ? 7 * DAY_MS : interval === '3d' ? 3 * DAY_MS : 1
    return MONDAY + Math.ceil((start - MONDAY) / step) * step
  })
  const times = firstOpens.filter(openTime => openTime < FIRST_RUN)
  for (;;) {
    const openTime = nextOpenTime(interval, times.at(-1) as number)
    if (openTime >= LAST_RUN + DAY_MS) break
    times.push(openTime)
  }
  return times.map(openTime => {
    const closeTime = nextOpenTime(interval, openTime) - 1
    return [openTime, '1.0', '1.0', '1.0', '1.0', '2.0', closeTime, '2.0', 1, '1.0', '1.0', '0']
  })
}

it(`a daily refresh of two symbols of the public tree, 24 series, takes at most ${MOST} requests`, async () => {
  const rows = new Map(INTERVALS.map(interval => [interval as string, candles(interval)]))
  const market: Market = { symbols: () => SYMBOLS, rows: (_, interval) => rows.get(interval), isTrading: () => false }
  const exchange = await ExchangeServer.start(market)
  exchange.weightLimit = Number.POSITIVE_INFINITY
  exchange.sendsWeight = false
  const request = {
    intervals: 'all' as const,
    baseUrl: `binance:${exchange.url}`,
    mirror: tempFolder(),
    from: '2025-12',
  }
  exchange.now = FIRST_RUN
  await downloadKlines({ ...request, symbols: SYMBOLS, now: FIRST_RUN })
  const counts: number[] = []
  for (let time = FIRST_RUN + DAY_MS; time <= LAST_RUN; time += DAY_MS) {
    exchange.reset()
    exchange.now = time
    await downloadKlines({ ...request, symbols: 'all', now: time })
    counts.push(exchange.log.length)
  }
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(24)
  expect(Math.max(...counts)).toBeLessThanOrEqual(MOST)
})
