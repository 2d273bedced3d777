import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Aggregate } from '../../src/klines/aggregate.js'
import { CandleTable } from '../../src/klines/candle-table.js'
import { COLUMNS, type KlineRow } from '../../src/klines/columns.js'
import { decimals } from '../support/kline-arbitraries.js'
import { aggregateOracle, amountOf } from '../support/resample-oracle.js'
import { batchOf, LEAP_MONTH } from '../support/windows.js'

const HOUR = 3_600_000
const { startTime } = LEAP_MONTH.span

/** Hours in a row with any values that can be added up exactly; large ones make sums beyond what a double holds. */
const someRows = fc
  .array(
    fc.record({
      values: fc.array(fc.oneof(decimals(15, 8), fc.constant('999999999999999.99999999')), {
        minLength: 8,
        maxLength: 8,
      }),
      count: fc.oneof(fc.constant(0), fc.nat(1_000_000)),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map(list =>
    list.map(({ values: [a, b, c, d, e, f, g, h], count }, hour): KlineRow => {
      const openTime = startTime + hour * HOUR
      return [openTime, a, b, c, d, e, openTime + HOUR - 1, f, count, g, h, '0']
    }),
  )

/** Candles of consecutive rows, `size` each. */
function candlesOf(rows: readonly KlineRow[], size: number): Aggregate[] {
  const table = new CandleTable()
  table.add(batchOf([...rows], LEAP_MONTH))
  const candles: Aggregate[] = []
  for (let row = 0; row < rows.length; row++) {
    if (row % size === 0) {
      candles.push(new Aggregate())
      candles.at(-1)?.start(rows[row][0])
    }
    candles.at(-1)?.add(table, row)
  }
  return candles
}

function merged(candles: readonly Aggregate[]): Aggregate {
  const candle = new Aggregate()
  candle.start(candles[0].openTime)
  for (const one of candles) candle.merge(one)
  return candle
}

const textOf = (candle: Aggregate) => COLUMNS.map((_, column) => candle.text(column))

describe('a candle made of candles', () => {
  it('is the one made of their rows, however these are grouped (BigInt oracle)', () => {
    fc.assert(
      fc.property(someRows, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 5 }), (rows, size, of) => {
        const first = candlesOf(rows, size)
        const second = Array.from({ length: Math.ceil(first.length / of) }, (_, index) =>
          merged(first.slice(index * of, (index + 1) * of)),
        )
        const whole = merged(second)
        expect(textOf(whole)).toEqual(textOf(candlesOf(rows, rows.length)[0]))
        expect(textOf(whole).map(amountOf)).toEqual(aggregateOracle(startTime, rows).map(amountOf))
        expect(whole.rows).toBe(rows.length)
      }),
      { numRuns: 500 },
    )
  })

  it('starts anew with each start, sums beyond a double included', () => {
    const large = candlesOf(
      Array.from({ length: 20 }, (_, hour): KlineRow => {
        const [time, value] = [startTime + hour * HOUR, '999999999999999.99999999']
        return [time, value, value, value, value, value, time + HOUR - 1, value, 1, value, value, '0']
      }),
      20,
    )[0]
    const small = candlesOf([[startTime, '1', '1', '1', '1', '1', startTime + HOUR - 1, '1', 1, '1', '1', '0']], 1)[0]
    const candle = merged([large])
    expect(textOf(candle)).toEqual(textOf(large))
    candle.start(startTime)
    candle.merge(small)
    expect(textOf(candle)).toEqual(textOf(small))
  })
})
