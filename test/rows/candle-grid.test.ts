import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SYMBOLS } from '../../src/candles/symbols.js'
import { CandleGrid, listingTime } from '../../src/rows/candle-grid.js'
import { parseTargetInterval } from '../../src/rows/target-interval.js'
import { LISTING_DATES } from '../support/oracles/intervals.js'

const time = (text: string) => Date.parse(text)
const DAY = 86_400_000
const gridOf = (name: string, symbol: string) =>
  new CandleGrid({ ...parseTargetInterval(name), anchor: listingTime(symbol) }, symbol)

/** The start and the end of the candle that contains a moment, by the calendar. */
const ALIGNED = [
  ['45m', '2024-01-01T01:00:00Z', '2024-01-01T00:45:00Z', '2024-01-01T01:30:00Z'],
  ['3h', '2024-01-01T02:59:59.999Z', '2024-01-01T00:00:00Z', '2024-01-01T03:00:00Z'],
  ['1d', '2024-02-29T23:59:59Z', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z'],
  // 2023-12-31 is day 19,722 after 1970-01-01: an even number.
  ['2d', '2024-01-01T12:00:00Z', '2023-12-31T00:00:00Z', '2024-01-02T00:00:00Z'],
  ['1w', '2024-01-07T23:00:00Z', '2024-01-01T00:00:00Z', '2024-01-08T00:00:00Z'],
  ['2w', '1970-01-18T12:00:00Z', '1970-01-05T00:00:00Z', '1970-01-19T00:00:00Z'],
  ['1M', '2024-02-29T12:00:00Z', '2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z'],
  ['1q', '2024-06-30T23:00:00Z', '2024-04-01T00:00:00Z', '2024-07-01T00:00:00Z'],
  ['1y', '2024-12-31T23:00:00Z', '2024-01-01T00:00:00Z', '2025-01-01T00:00:00Z'],
  ['3d', '2017-08-19T23:00:00Z', '2017-08-17T00:00:00Z', '2017-08-20T00:00:00Z'],
  ['3d', '2017-08-20T00:00:00Z', '2017-08-20T00:00:00Z', '2017-08-23T00:00:00Z'],
] as const

describe('the grid of a target interval', () => {
  it.each(ALIGNED)('%s: %s is in the candle from %s to %s', (name, moment, start, end) => {
    const grid = gridOf(name, 'BTCUSDT')
    expect(grid.start(time(moment))).toBe(time(start))
    expect(grid.end(time(start))).toBe(time(end))
  })

  it.each(LISTING_DATES)('3d: candles of %s are counted from the listing on %s', (symbol, date) => {
    const grid = gridOf('3d', symbol)
    expect(grid.start(time(date))).toBe(time(date))
    expect(grid.start(time(date) - 1)).toBe(time(date) - 3 * DAY)
  })

  it('puts every moment into exactly one candle, and the next candle starts where it ends', () => {
    const names = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom(...'mhdwMqy')).map(parts => parts.join(''))
    const moments = fc.integer({ min: time('1960-01-01'), max: time('2040-01-01') })
    fc.assert(
      fc.property(names, fc.constantFrom(...SYMBOLS), moments, (name, symbol, moment) => {
        const grid = gridOf(name, symbol)
        const start = grid.start(moment)
        const end = grid.end(start)
        expect(start <= moment && moment < end).toBe(true)
        expect([grid.start(start), grid.start(end - 1), grid.offset(moment)]).toEqual([start, start, moment - start])
        expect(grid.start(end)).toBe(end)
        expect([grid.next(start), grid.next(start + 1), grid.next(end)]).toEqual([start, end, end])
        const spans = [
          [start, end],
          [start + 1, end],
          [start, end - 1],
          [start, grid.end(end)],
        ]
        expect(spans.map(([from, to]) => grid.count(from, to))).toEqual([1, 0, 0, 2])
      }),
    )
  })
})
