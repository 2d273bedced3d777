import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KlineRow } from '../../../src/candles/columns.js'
import type { DownloadRequest } from '../../../src/engine/klines.js'
import { madeMarket } from '../../support/exchange/made-market.js'
import type { Market } from '../../support/exchange/market.js'
import { ExchangeServer } from '../../support/servers/exchange-server.js'
import { TreeServer } from '../../support/servers/tree-server.js'
import { makeTree, putFile, START_DATES, weekPath, weekRows } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const DAY = 86_400_000
const HOUR = 3_600_000
const QUARTER = 900_000
const SETTLING = 15_000

/** A service whose windows get candles as time goes by. */
export interface GrowingService {
  /** When it begins, ms UTC. */
  readonly start: number
  /** When all of its windows are over, and a day more. */
  readonly end: number
  readonly request: Pick<DownloadRequest, 'symbols' | 'intervals' | 'baseUrl' | 'from'>
  /** The startDates of its windows. */
  readonly startDates: readonly string[]
  /** The path of a window. */
  path(startDate: string): string
  /** Sets its clock, and renders its windows unless it lags behind; the exchange never does. */
  setTime(time: number, renders?: boolean): void
  /** Deploys its files again as they are: all get the present time. */
  deployAgain(): void
  /** What a window is at a time: the JSON of its candles. */
  rowsAt(startDate: string, time: number): unknown[]
  /** The paths or queries of the requests for windows since the last call. */
  requests(): string[]
}

/** The list of the static service reaches so far beyond its candles, weeks. */
const FUTURE_WEEKS = 60

/** The static service: 15m weeks. A file that does not change keeps its Last-Modified. */
export async function growingTree(): Promise<GrowingService> {
  const tree = makeTree(tempFolder())
  const server = await TreeServer.start(tree)
  const last = Date.parse(START_DATES.at(-1) as string)
  const dates = Array.from({ length: FUTURE_WEEKS }, (_, week) => new Date(last + 7 * (week + 1) * DAY))
  const list = [...START_DATES, ...dates.map(date => date.toISOString().slice(0, 10))]
  putFile(tree, 'api/klines/start-dates/15m.json', list)
  for (const startDate of list) putFile(tree, weekPath('BTCUSDT', startDate), [], 0)
  const rowsAt = (startDate: string, time: number) =>
    startDate === START_DATES[0] ? [] : weekRows(startDate).filter(([openTime]) => openTime + QUARTER <= time)
  const path = (startDate: string) => weekPath('BTCUSDT', startDate)
  const setTime = (time: number, renders = true) => {
    server.date = time
    if (!renders) return
    for (const startDate of START_DATES) {
      const text = JSON.stringify(rowsAt(startDate, time))
      if (readFileSync(join(tree, path(startDate)), 'utf8') !== text) putFile(tree, path(startDate), text, time)
    }
  }
  const start = Date.parse(START_DATES[1]) + 2 * DAY
  setTime(start)
  return {
    start,
    end: last + 9 * DAY,
    request: { symbols: ['BTCUSDT'], intervals: ['15m'], baseUrl: server.url },
    startDates: START_DATES,
    path,
    setTime,
    deployAgain: () => {
      for (const startDate of list)
        putFile(tree, path(startDate), readFileSync(join(tree, path(startDate)), 'utf8'), server.date)
    },
    rowsAt,
    requests: () => {
      const paths = server.paths('windows')
      server.reset()
      return paths
    },
  }
}

const MONTHS = ['2026-01-01', '2026-02-01', '2026-03-01', '2026-04-01', '2026-05-01', '2026-06-01']

/** What a lying exchange has in place of its candles. */
export type Lie = (rows: readonly KlineRow[]) => readonly KlineRow[]

/**
 * The exchange: 1h months of a symbol that has a gap at the end of a month, and is delisted in April. `findLie`: asked at each
 * request.
 */
export async function growingExchange(findLie: () => Lie | undefined = () => undefined): Promise<GrowingService> {
  const market = madeMarket({
    AAAUSDT: {
      from: '2026-01-08T06:00Z',
      until: '2026-04-12T00:00Z',
      without: [['2026-02-26T12:00Z', '2026-03-02T05:00Z']],
    },
  })
  const shown: Market = {
    ...market,
    rows: (symbol, interval) => {
      const rows = market.rows(symbol, interval)
      return rows && (findLie()?.(rows) ?? rows)
    },
  }
  const exchange = await ExchangeServer.start(shown)
  exchange.weightLimit = Number.POSITIVE_INFINITY
  exchange.sendsWeight = false
  const start = Date.UTC(2026, 0, 20)
  exchange.now = start
  return {
    start,
    end: Date.UTC(2026, 6, 3),
    request: { symbols: ['AAAUSDT'], intervals: ['1h'], baseUrl: `binance:${exchange.url}`, from: MONTHS[0] },
    startDates: MONTHS,
    path: startDate => `api/klines/1h/AAAUSDT/${startDate}.json`,
    setTime: time => {
      exchange.now = time
    },
    deployAgain: () => {},
    rowsAt: (startDate, time) => {
      const from = Date.parse(startDate)
      const to = Date.parse(MONTHS[MONTHS.indexOf(startDate) + 1] ?? '2026-07-01')
      const rows = market.rows('AAAUSDT', '1h') ?? []
      return rows.filter(([openTime]) => openTime >= from && openTime < to && openTime + HOUR + SETTLING <= time)
    },
    requests: () => {
      const windows = exchange.log.filter(({ kind, limit }) => kind === 'klines' && limit === 1000)
      exchange.log.length = 0
      return windows.map(({ startTime }) => new Date(startTime ?? 0).toISOString().slice(0, 10))
    },
  }
}
