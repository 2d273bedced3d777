import { putFile, type Row } from './synthetic-tree.js'

// The candles of BTCUSDT around the outage of February 2018, made from trades. The times are those of
// github.com/binance/binance-public-data, issue 77; prices and volumes are synthetic.

const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
const QUARTER = 15 * MINUTE
const utc = (time: string) => Date.parse(`2018-02-${time}Z`)

/** The month that the tree has. */
export const START = utc('01T00:00')
export const END = Date.parse('2018-03-01T00:00Z')
/** The last candle before the outage closes early, and the first one after it opens 33 hours later. */
export const LAST_CLOSE = utc('08T00:28:14.788')
export const RESUMED = utc('09T09:28:14.789')
/** The last hour off the grid opens here, and closes 999 ms after the first one on the grid has opened. */
export const LAST_OFF_GRID = utc('11T03:28:14.789')
export const BACK_ON_GRID = utc('11T04:00')
/** The same for the quarters off the grid. */
const QUARTERS_BACK_ON_GRID = utc('10T06:00')

/** A trade: amounts in units of 10^-8. */
interface Trade {
  readonly time: number
  /** Whether the taker bought. */
  readonly isBuy: boolean
  readonly price: bigint
  readonly quantity: bigint
}

const UNIT = 100_000_000n
const trade = (time: number, index: number): Trade => ({
  time,
  isBuy: index % 2 === 0,
  price: (800_000n + ((BigInt(index) * 7_919n) % 50_000n)) * 1_000_000n,
  quantity: (1_000n + ((BigInt(index) * 104_729n) % 90_000n)) * 100n,
})

/** A trade every five minutes unless the exchange is down, and one in each second in which candles overlap. */
export const TRADES: readonly Trade[] = Array.from({ length: (END - START) / (5 * MINUTE) }, (_, index) =>
  trade(START + index * 5 * MINUTE + 150_000, index),
)
  .concat([QUARTERS_BACK_ON_GRID, BACK_ON_GRID].map((time, index) => trade(time + 500, 1_000_000 + index)))
  .filter(({ time }) => time <= LAST_CLOSE || time >= utc('09T10:00'))
  .sort((a, b) => a.time - b.time)

const decimal = (units: bigint) => `${units / UNIT}.${String(units % UNIT).padStart(8, '0')}`
const total = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The candle of these trades. */
function toRow(openTime: number, closeTime: number, trades: readonly Trade[]): Row {
  const prices = trades.map(({ price }) => price).sort((a, b) => Number(a - b))
  const taken = trades.filter(({ isBuy }) => isBuy)
  const quote = (list: readonly Trade[]) => total(list.map(({ price, quantity }) => (price * quantity) / UNIT))
  return [
    openTime,
    decimal(trades[0].price),
    decimal(prices[prices.length - 1]),
    decimal(prices[0]),
    decimal(trades[trades.length - 1].price),
    decimal(total(trades.map(({ quantity }) => quantity))),
    closeTime,
    decimal(quote(trades)),
    trades.length,
    decimal(total(taken.map(({ quantity }) => quantity))),
    decimal(quote(taken)),
    '0',
  ]
}

/** The candles of one length: on the grid, or off it from the end of the outage until just after `backOnGrid`. */
function makeCandles(step: number, backOnGrid = RESUMED): Row[] {
  const times: [openTime: number, closeTime: number][] = []
  for (let openTime = START; openTime <= LAST_CLOSE; openTime += step) {
    times.push([openTime, Math.min(openTime + step - 1, LAST_CLOSE)])
  }
  for (let openTime = RESUMED; openTime < backOnGrid; openTime += step) {
    times.push([openTime, Math.min(openTime + step - 1, backOnGrid + 999)])
  }
  const first = START + Math.floor((backOnGrid - START) / step) * step
  for (let openTime = first; openTime < END; openTime += step) times.push([openTime, openTime + step - 1])
  let closed = -Infinity
  return times.flatMap(([openTime, closeTime]) => {
    const trades = TRADES.filter(({ time }) => time > closed && time >= openTime && time <= closeTime)
    closed = closeTime
    return trades.length > 0 ? [toRow(openTime, closeTime, trades)] : []
  })
}

/** Hours as the exchange has them, and candles of other lengths that it has on the grid. */
export const HOURS = makeCandles(HOUR, BACK_ON_GRID)
export const QUARTERS = makeCandles(QUARTER)
export const TWO_HOURS = makeCandles(2 * HOUR)
export const DAYS = makeCandles(DAY)

/** The candles off the hours' grid, counted by hand: from 9 February 09:28 to 11 February 03:28. */
export const OFF_GRID_HOURS = Array.from({ length: 43 }, (_, index) => RESUMED + index * HOUR)

/** The start dates of the windows of February 2018. */
const WINDOWS: Readonly<Record<string, readonly string[]>> = {
  '15m': ['2018-01-29', '2018-02-05', '2018-02-12', '2018-02-19', '2018-02-26'],
  '30m': ['2018-01-22', '2018-02-05', '2018-02-19'],
  '1h': ['2018-02-01'],
  '2h': ['2018-01-01'],
  '1d': ['2018-01-01'],
}

/** Cuts candles into windows, and writes these with their list. */
export function putSeries(root: string, interval: string, rows: readonly Row[]): void {
  const startDates = WINDOWS[interval]
  for (const [index, startDate] of startDates.entries()) {
    const [from, to] = [Date.parse(startDate), Date.parse(startDates[index + 1] ?? '9999')]
    const inside = rows.filter(([openTime]) => openTime >= from && openTime < to)
    putFile(root, `api/klines/${interval}/BTCUSDT/${startDate}.json`, inside)
  }
  putFile(root, `api/klines/start-dates/${interval}.json`, startDates)
}

/** Writes a tree with off-grid hours, and with candles of the other lengths on the grid. */
export function makeOffGridTree(root: string): string {
  putFile(root, 'api/klines/symbols.json', ['BTCUSDT'])
  const series = { '15m': QUARTERS, '1h': HOURS, '2h': TWO_HOURS, '1d': DAYS }
  for (const [interval, rows] of Object.entries(series)) putSeries(root, interval, rows)
  return root
}
