import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COLUMNS, type KlineRow } from '../../src/candles/columns.js'
import { CandleTable } from '../../src/rows/candle-table.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { cases } from '../support/cases.js'
import { decimals } from '../support/oracles/kline-arbitraries.js'
import { aggregateOracle, toAmount } from '../support/oracles/resample-oracle.js'
import { LEAP_MONTH, toBatch } from '../support/windows.js'

const HOUR = 3_600_000
const { startTime } = LEAP_MONTH.span

/** Consecutive hours with any values, short and long ones; their sums are exact, also where no double holds them. */
const someRows = fc
  .array(
    fc.record({
      values: fc.array(fc.oneof(decimals(15, 8), decimals(30, 12), fc.constant('999999999999999.99999999')), {
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
function toCandles(rows: readonly KlineRow[], size: number, kernel = new Kernel()): CandleTable {
  const table = new CandleTable(kernel)
  table.add(toBatch([...rows], LEAP_MONTH))
  return aggregate(table, size)
}

/** Sums of consecutive rows of a table, `size` each. */
function aggregate(table: CandleTable, size: number): CandleTable {
  const candles = new CandleTable(table.kernel)
  for (let row = 0; row < table.length; row += size) {
    candles.begin(table.openTime(row))
    candles.addToLast(table, row, Math.min(row + size, table.length))
  }
  return candles
}

const rowTexts = (table: CandleTable, row = 0) => COLUMNS.map((_, column) => table.text(row, column))

describe('a candle aggregated from candles', () => {
  it('equals the candle of their rows, however these are grouped (BigInt oracle)', () => {
    fc.assert(
      fc.property(someRows, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 5 }), (rows, size, groupSize) => {
        const whole = aggregate(aggregate(toCandles(rows, size), groupSize), rows.length)
        expect(rowTexts(whole)).toEqual(rowTexts(toCandles(rows, rows.length)))
        expect(rowTexts(whole).map(toAmount)).toEqual(aggregateOracle(startTime, rows).map(toAmount))
        expect([whole.length, whole.rows(0)]).toEqual([1, rows.length])
      }),
      { numRuns: cases(500, 80) },
    )
  })

  it('contains nothing of the candle before it, even after sums beyond a double', () => {
    const kernel = new Kernel()
    const large = toCandles(
      Array.from({ length: 20 }, (_, hour): KlineRow => {
        const [time, value] = [startTime + hour * HOUR, '999999999999999.99999999']
        return [time, value, value, value, value, value, time + HOUR - 1, value, 1, value, value, '0']
      }),
      20,
      kernel,
    )
    const row: KlineRow = [startTime, '1', '1', '1', '1', '1', startTime + HOUR - 1, '1', 1, '1', '1', '0']
    const small = toCandles([row], 1, kernel)
    const candle = aggregate(large, 1)
    expect(rowTexts(candle)).toEqual(rowTexts(large))
    expect(candle.decimal(0, 4)).toBe('19999999999999999.99999980')
    candle.clear()
    candle.begin(startTime)
    candle.addToLast(small, 0, 1)
    expect(rowTexts(candle)).toEqual(row.map(String))
  })
})
