import { KlinesError } from '../candles/errors.js'
import { HOUR_MS } from '../candles/intervals.js'
import { parseList } from '../candles/lists.js'
import type { ExchangeAnswers } from './exchange-answers.js'
import { cleanText } from './fetch-error.js'
import type { FundingRate } from './source.js'

/** The most rows of an answer. */
const PAGE_ROWS = 1_000
/** The JSON of time, rate and mark price. */
const CELLS = /^\[(\d{13}),"(-?\d+(?:\.\d+)?)","((?:\d+(?:\.\d+)?)?)"\]$/

/** The settlements of a contract, ascending. Equal rows are one. */
export async function fetchFunding(
  answers: ExchangeAnswers,
  symbol: string,
  fromTime: number,
  toTime: number,
  signal: AbortSignal,
): Promise<FundingRate[]> {
  const { api, opened } = answers.market
  const path = `${api}/fundingRate?symbol=${encodeURIComponent(symbol)}&limit=${PAGE_ROWS}`
  const end = toTime < Infinity ? `&endTime=${toTime - 1}` : ''
  const found = new Map<string, FundingRate>()
  let startTime = Math.max(fromTime, Date.parse(opened))
  // A host may send fewer rows than it is asked for: the end is where no other row comes.
  for (let known = -1; known < found.size && startTime < toTime; ) {
    known = found.size
    const parse = (bytes: Buffer) => parseRows(bytes, symbol, startTime, toTime)
    const { value: rows } = await answers.get(`${path}&startTime=${startTime}${end}`, parse, signal)
    for (const row of rows) found.set(JSON.stringify(row), row)
    // More rows may have the time of the last one.
    const last = rows.at(-1)?.funding_time ?? startTime
    if (rows.length === PAGE_ROWS && last === startTime)
      throw new KlinesError('bad_list', `${symbol} has ${rows.length} funding rates at ${last}.`)
    startTime = last
  }
  const rows = [...found.values()]
  return rows.map((row, index) => {
    const [before, after] = index === 0 ? rows : [rows[index - 1], row]
    const hours = after ? Math.round((after.funding_time - before.funding_time) / HOUR_MS) : null
    return { ...row, interval_hours: hours }
  })
}

/** Throws `bad_list` for a row that is no later settlement of the symbol in the range. */
function parseRows(bytes: Buffer, symbol: string, startTime: number, endTime: number): FundingRate[] {
  const list = `The list of funding rates of ${symbol}`
  let earliest = startTime
  return parseList(bytes, list).map((row, index) => {
    const { symbol: name, fundingTime, fundingRate, markPrice } = Object(row)
    const [, digits, rate, price] = CELLS.exec(JSON.stringify([fundingTime, fundingRate, markPrice])) ?? []
    const time = Number(digits)
    if (name !== symbol || !(time >= earliest && time < endTime)) {
      const fault = `row ${index} is ${cleanText(JSON.stringify(row))}`
      const expected = `Expected ${symbol}, a later time in the range, and decimal texts`
      throw new KlinesError('bad_list', `${list} is refused: ${fault}. ${expected}.`)
    }
    earliest = time
    return { symbol, funding_time: time, funding_rate: rate, mark_price: price, interval_hours: null }
  })
}
