import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import type { WindowSpan } from '../../src/candles/windows.js'
import { buildSeriesGrid } from '../../src/rows/candle-grid.js'
import { CandleTable } from '../../src/rows/candle-table.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { type Inspection, SeriesInspector } from '../../src/verify/inspect.js'
import { cases } from '../support/cases.js'
import { decimals } from '../support/oracles/kline-arbitraries.js'
import { isPossible } from '../support/oracles/verify-oracle.js'
import { sampleRow, toJsonBytes } from '../support/windows.js'

const HOUR = 3_600_000
const START = Date.parse('2024-02-01')

/** The time that is loaded, and the candles around it. */
interface Coverage {
  readonly spans: readonly WindowSpan[]
  readonly before?: number
  readonly after?: number
}

const COVERS_ALL: Coverage = { spans: [{ startTime: -Infinity, endTime: Infinity }] }

/** Inspects rows in any order, also in one that no window may have; all at once and one by one, to the same result. */
function inspect(
  rows: readonly unknown[][],
  interval: Interval = '1h',
  startDate = '2024-02-01',
  { spans, before, after } = COVERS_ALL,
): Inspection {
  const [whole, stepwise] = [new SeriesInspector(interval, before), new SeriesInspector(interval, before)]
  const grid = buildSeriesGrid({ symbol: 'BTCUSDT', interval }, (rows[0]?.[0] as number | undefined) ?? before)
  const table = new CandleTable(new Kernel())
  for (const row of rows) {
    table.add(decodeWindow(toJsonBytes([row]), { symbol: 'BTCUSDT', interval, startDate }))
    stepwise.add(table, table.length - 1, table.length, grid, spans)
  }
  whole.add(table, 0, table.length, grid, spans)
  const inspection = whole.end(grid, spans, after)
  expect(stepwise.end(grid, spans, after)).toEqual(inspection)
  return inspection
}

/** The prices and volumes of a candle without a trade. */
const IDLE = { 1: '42555', 2: '42555', 3: '42555', 4: '42555', 5: '0', 7: '0.00', 8: 0, 9: '0', 10: '0' }

const hour = (index: number, cells: Record<number, unknown> = {}) =>
  sampleRow(START + index * HOUR, { 6: START + (index + 1) * HOUR - 1, ...cells })

describe('SeriesInspector', () => {
  it('finds nothing in successive candles', () => {
    expect(inspect([hour(0), hour(1), hour(2)])).toMatchObject({
      candles: 3,
      firstOpenTime: START,
      lastOpenTime: START + 2 * HOUR,
      gaps: [],
      ...{ earlyClose: [], offGrid: [], faults: [], zeroTrades: [] },
      counts: { earlyClose: 0, offGrid: 0, invalid: 0, zeroTrades: 0 },
    })
  })

  describe('a candle that fails by the last digit is named with its columns and values', () => {
    /** Opens at its low and closes at its high; takers bought all. */
    const rising = { 1: '1', 2: '3', 3: '1', 4: '3', 5: '10', 7: '20', 8: 5, 9: '10', 10: '20' }
    const falling = { ...rising, 1: '3', 4: '1' }
    /** Every trade was at 100. */
    const flat = { ...rising, 1: '100', 2: '100', 3: '100', 4: '100', 7: '1000', 10: '1000' }
    const free = { ...falling, 3: '0', 4: '0' }
    const dust = { ...rising, 2: '1', 4: '1', 5: '0.00000002', 9: '0.00000002', 7: '0.00000002', 10: '0.00000002' }
    /** More digits than a candle has in memory. */
    const long = '1234567890123456789.123456789012'

    it.each<[cells: Record<number, unknown>, change: Record<number, unknown>, faults: string[]]>([
      [rising, {}, []],
      [falling, {}, []],
      [rising, { 3: '1.00000001' }, ['low 1.00000001 is above open 1']],
      [rising, { 1: '0.999999999' }, ['low 1 is above open 0.999999999']],
      [falling, { 3: '1.000000001' }, ['low 1.000000001 is above close 1']],
      [falling, { 1: '3.00000001' }, ['open 3.00000001 is above high 3']],
      [rising, { 2: '2.99999999' }, ['close 3 is above high 2.99999999']],
      [rising, { 9: '10.00000001' }, ['taker_buy_volume 10.00000001 is above volume 10']],
      [rising, { 7: '15' }, ['taker_buy_quote_volume 20 is above quote_volume 15']],
      [rising, { 10: '20.00000001' }, ['taker_buy_quote_volume 20.00000001 is above quote_volume 20']],
      [flat, {}, []],
      [flat, { 7: '1000.0009' }, []],
      [flat, { 7: '1000.0011' }, ['quote_volume 1000.0011 is above high 100 x volume 10']],
      [flat, { 7: '1000.01' }, ['quote_volume 1000.01 is above high 100 x volume 10']],
      [flat, { 7: '999.9991', 10: '999.9991' }, []],
      [flat, { 7: '999.9989', 9: '5', 10: '500' }, ['quote_volume 999.9989 is below low 100 x volume 10']],
      [flat, { 9: '5', 10: '500.0004' }, []],
      [flat, { 9: '5', 10: '500.0006' }, ['taker_buy_quote_volume 500.0006 is above high 100 x taker_buy_volume 5']],
      [flat, { 9: '5', 10: '499.9996' }, []],
      [flat, { 9: '5', 10: '499.9994' }, ['taker_buy_quote_volume 499.9994 is below low 100 x taker_buy_volume 5']],
      [flat, { 5: long }, [`quote_volume 1000 is below low 100 x volume ${long}`]],
      [dust, { 7: '0.00000003' }, []],
      [dust, { 7: '0.00000004' }, ['quote_volume 0.00000004 is above high 1 x volume 0.00000002']],
      [dust, { 7: '0.00000001', 10: '0.00000001' }, []],
      [dust, { 10: '0' }, ['taker_buy_quote_volume 0 is below low 1 x taker_buy_volume 0.00000002']],
      [free, { 9: '0', 10: '0' }, ['quote_volume 20 is traded at low 0 x volume 10']],
      [free, { 5: '0', 7: '0', 9: '0', 10: '0' }, []],
      [IDLE, {}, []],
      [IDLE, { 2: '42555.00000001' }, ['count is 0, but high 42555.00000001 is above low 42555']],
      [IDLE, { 5: '0.00000001' }, ['count is 0, but volume is 0.00000001']],
      [IDLE, { 7: '184467440737.09551616' }, ['count is 0, but quote_volume is 184467440737.09551616']],
      [IDLE, { 9: '0.00000001' }, ['taker_buy_volume 0.00000001 is above volume 0']],
    ])('%j with %j', (cells, change, expected) => {
      const { faults, counts } = inspect([hour(0, { ...cells, ...change })])
      expect(faults).toEqual(expected.map(description => ({ kind: 'invalid_values', openTime: START, description })))
      expect(counts).toMatchObject({ earlyClose: 0, offGrid: 0, invalid: expected.length })
    })
  })

  it('names the candles that cannot be, of any values, and no others (BigInt oracle)', () => {
    const near = fc.constantFrom('0', '1', '1.00000001', '1.000000001', '2', '1000000000000000', '1000000000000000.5')
    const values = fc.array(fc.oneof(near, near, decimals(15, 8)), { minLength: 8, maxLength: 8 })
    const candles = fc.array(fc.tuple(values, fc.constantFrom(0, 1)), { minLength: 1, maxLength: 40 })
    const check = (list: [string[], number][]) => {
      const rows = list.map(([[open, a, b, close, volume, quote, taker, takerQuote], count], index) => {
        // Half of the candles are in order.
        const [high, low] = index % 2 === 0 ? [open, open] : [a, b]
        const last = index % 2 === 0 ? open : close
        return hour(index, {
          1: open,
          2: high,
          3: low,
          4: last,
          5: volume,
          7: quote,
          8: count,
          9: taker,
          10: takerQuote,
        })
      })
      const { faults, counts } = inspect(rows)
      const impossible = rows.filter(row => !isPossible('1h', row)).map(([openTime]) => openTime)
      expect([...new Set(faults.map(({ openTime }) => openTime))]).toEqual(impossible)
      expect(counts.invalid).toBe(impossible.length)
    }
    fc.assert(fc.property(candles, check), { numRuns: cases(300, 40) })
  })

  it('finds stretches of candles without a trade, which end with a trade, a gap or an early close', () => {
    const idle = (index: number, cells: Record<number, unknown> = {}) => hour(index, { ...IDLE, ...cells })
    const early = idle(9, { 6: START + 10 * HOUR - 2 })
    const rows = [idle(0), hour(1), idle(2), idle(3), idle(4), idle(6), idle(7), hour(8), early, idle(10)]
    const { counts, zeroTrades, earlyClose, faults } = inspect(rows)
    expect(counts).toMatchObject({ earlyClose: 1, invalid: 0, zeroTrades: 8 })
    const runs = zeroTrades.map(({ startTime, endTime, candles }) => {
      return [(startTime - START) / HOUR, (endTime - START) / HOUR, candles]
    })
    expect(runs).toEqual([
      [0, 1, 1],
      [2, 5, 3],
      [6, 8, 2],
      [9, 10 - 1 / HOUR, 1],
      [10, 11, 1],
    ])
    expect([earlyClose, faults]).toEqual([[{ openTime: early[0], description: 'closes 1 ms early' }], []])
  })

  it('finds a candle that the exchange has off the grid', () => {
    const opens = ['2018-02-28T09:28:14.789Z', '2018-02-28T23:59:59.999Z'].map(Date.parse)
    const kinds = opens.map(openTime => {
      const row = sampleRow(openTime, { 6: openTime + HOUR - 1 })
      return inspect([row], '1h', '2018-02-01').offGrid
    })
    expect(kinds).toEqual([
      [{ openTime: opens[0], description: 'opens 1694789 ms off the grid' }],
      [{ openTime: opens[1], description: 'opens 3599999 ms off the grid' }],
    ])
    // Of 3d, a window may have the days of another symbol; that is a fault.
    const [first, shifted] = ['2024-01-02', '2024-01-06'].map(Date.parse)
    const rows = [first, shifted].map(openTime => sampleRow(openTime, { 6: openTime + 72 * HOUR - 1 }))
    expect(inspect(rows, '3d', '2020-01-01')).toMatchObject({
      faults: [{ kind: 'off_grid', openTime: shifted, description: 'opens 86400000 ms off the grid' }],
      counts: { offGrid: 0, invalid: 1 },
    })
  })

  it('counts a candle with several faults once, and describes each', () => {
    const traded = inspect([hour(0, { ...IDLE, 2: '42555.5', 5: '3.50', 7: '7' }), hour(1, { ...IDLE, 5: '1' })])
    expect(traded).toMatchObject({ counts: { invalid: 2 } })
    expect(traded.faults.map(({ description }) => description)).toEqual([
      'count is 0, but high 42555.5 is above low 42555',
      'count is 0, but volume is 3.50',
      'count is 0, but quote_volume is 7',
      'count is 0, but volume is 1',
    ])
  })
})
