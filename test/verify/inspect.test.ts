import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import type { WindowSpan } from '../../src/candles/windows.js'
import { buildSeriesGrid } from '../../src/rows/candle-grid.js'
import { CandleTable } from '../../src/rows/candle-table.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { type Inspection, SeriesInspector } from '../../src/verify/inspect.js'
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

  it.each<['early_close' | 'invalid_values', string, unknown[][]]>([
    ['early_close', 'a close time too early', [hour(0, { 6: START + HOUR - 2 })]],
    ['invalid_values', 'a low above the open', [hour(0, { 1: '42555', 3: '42555.00000001' })]],
    ['invalid_values', 'an open above the high', [hour(0, { 1: '42600.50000001' })]],
    ['invalid_values', 'more bought by takers than traded', [hour(0, { 9: '1195.56000001', 10: '50903331.16' })]],
    [
      'invalid_values',
      'prices of 0 with a volume',
      [hour(0, { 1: '0', 2: '0', 3: '0', 4: '0', 7: '0', 9: '0', 10: '0' })],
    ],
    ['invalid_values', 'a low of 0 with a volume', [hour(0, { 3: '0.00', 9: '0', 10: '0' })]],
    ['invalid_values', 'more paid than the high allows', [hour(0, { 7: '60903331.16400430' })]],
    ['invalid_values', 'less paid than the low allows', [hour(0, { 7: '40903331.16400430' })]],
    ['invalid_values', 'more paid by takers than the high allows', [hour(0, { 10: '35552311.48122210' })]],
    ['invalid_values', 'less paid by takers than the low allows', [hour(0, { 10: '15552311.48122210' })]],
    [
      'invalid_values',
      'a long volume for which too little was paid',
      [hour(0, { 5: '1234567890123456789.123456789012' })],
    ],
    ['invalid_values', 'a high above the rest without a trade', [hour(0), hour(1, { ...IDLE, 2: '42555.00000001' })]],
    ['invalid_values', 'a volume without a trade', [hour(0), hour(1, { ...IDLE, 5: '0.00000001' })]],
    [
      'invalid_values',
      'a volume of 64 bits without a trade',
      [hour(0), hour(1, { ...IDLE, 7: '184467440737.09551616' })],
    ],
  ])('finds %s: %s', (kind, _, rows) => {
    const { earlyClose, offGrid, faults, counts } = inspect(rows)
    const [early, invalid] = kind === 'early_close' ? [1, 0] : [0, 1]
    expect(counts).toMatchObject({ earlyClose: early, offGrid: 0, invalid })
    expect([earlyClose.length, offGrid.length, faults.length]).toEqual([early, 0, invalid])
    expect([...earlyClose, ...faults][0].openTime).toBe(rows.at(-1)?.[0])
    for (const fault of faults) expect(fault.kind).toBe(kind)
  })

  it('finds stretches of candles without a trade, which end with a trade, a gap or an early close', () => {
    const idle = (index: number, cells: Record<number, unknown> = {}) => hour(index, { ...IDLE, ...cells })
    const early = idle(9, { 6: START + 10 * HOUR - 5 })
    const rows = [idle(0), hour(1), idle(2), idle(3), idle(4), idle(6), idle(7), hour(8), early, idle(10)]
    const { counts, zeroTrades, earlyClose, faults } = inspect(rows)
    expect(counts.zeroTrades).toBe(8)
    const runs = zeroTrades.map(({ startTime, endTime, candles }) => {
      return [(startTime - START) / HOUR, (endTime - START) / HOUR, candles]
    })
    expect(runs).toEqual([
      [0, 1, 1],
      [2, 5, 3],
      [6, 8, 2],
      [9, 10 - 4 / HOUR, 1],
      [10, 11, 1],
    ])
    expect([earlyClose.length, faults]).toEqual([1, []])
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
  })

  it('describes a fault with its columns and values', () => {
    expect(inspect([hour(0, { 1: '42555', 3: '42555.00000001' })]).faults[0].description).toBe(
      'low 42555.00000001 is above open 42555',
    )
    const traded = inspect([hour(0, { ...IDLE, 2: '42555.5', 5: '3.50', 7: '7' })])
    expect(traded).toMatchObject({ counts: { invalid: 1 } })
    expect(traded.faults.map(({ description }) => description)).toEqual([
      'count is 0, but high 42555.5 is above low 42555',
      'count is 0, but volume is 3.50',
      'count is 0, but quote_volume is 7',
    ])
  })
})
