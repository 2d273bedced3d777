const MINUTE = 60_000
const DAY = 86_400_000

/** The length in ms of every interval but the month, written down apart from the sources. */
export const INTERVAL_LENGTHS = [
  ['15m', 15 * MINUTE],
  ['30m', 30 * MINUTE],
  ['1h', 60 * MINUTE],
  ['2h', 120 * MINUTE],
  ['4h', 240 * MINUTE],
  ['6h', 360 * MINUTE],
  ['8h', 480 * MINUTE],
  ['12h', 720 * MINUTE],
  ['1d', DAY],
  ['3d', 3 * DAY],
  ['1w', 7 * DAY],
] as const

/** The listing date of every symbol, where its 3d candles start. */
export const LISTING_DATES = [
  ['BTCUSDT', '2017-08-17'],
  ['ETHUSDT', '2017-08-17'],
  ['BNBUSDT', '2017-11-06'],
  ['ADAUSDT', '2018-04-17'],
  ['XRPUSDT', '2018-05-04'],
  ['LINKUSDT', '2019-01-16'],
  ['DOGEUSDT', '2019-07-05'],
  ['SOLUSDT', '2020-08-11'],
  ['DOTUSDT', '2020-08-18'],
  ['AVAXUSDT', '2020-09-22'],
] as const
