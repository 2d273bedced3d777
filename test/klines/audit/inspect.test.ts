import { describe, expect, it } from 'vitest'
import { type AnomalyKind, inspect as inspectTable } from '../../../src/klines/audit/inspect.js'
import { decodeWindow } from '../../../src/klines/batch/window-codec.js'
import type { Interval } from '../../../src/klines/intervals.js'
import { CandleTable } from '../../../src/klines/kernel/candle-table.js'
import { Kernel } from '../../../src/klines/kernel/kernel.js'
import { sampleRow, toJsonBytes } from '../../support/windows.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.parse('2024-02-01')

/** Inspects rows in any order, also in one that no window may have. */
function inspect(rows: readonly unknown[][], interval: Interval = '1h', startDate = '2024-02-01') {
  const table = new CandleTable(new Kernel())
  for (const row of rows) table.add(decodeWindow(toJsonBytes([row]), { symbol: 'BTCUSDT', interval, startDate }))
  return inspectTable({ symbol: 'BTCUSDT', interval }, table)
}

const hour = (index: number, cells: Record<number, unknown> = {}) =>
  sampleRow(START + index * HOUR, { 6: START + (index + 1) * HOUR - 1, ...cells })

describe('inspect', () => {
  it('finds nothing in successive candles', () => {
    expect(inspect([hour(0), hour(1), hour(2)])).toEqual({
      candles: 3,
      firstOpenTime: START,
      lastOpenTime: START + 2 * HOUR,
      gaps: [],
      anomalies: [],
    })
  })

  it('finds gaps with their start, end and number of missing candles', () => {
    expect(inspect([hour(0), hour(3), hour(4), hour(6)]).gaps).toEqual([
      { startTime: START + HOUR, endTime: START + 3 * HOUR, missing: 2 },
      { startTime: START + 5 * HOUR, endTime: START + 6 * HOUR, missing: 1 },
    ])
  })

  it.each<[AnomalyKind, string, unknown[][]]>([
    ['early_close', 'a close time too early', [hour(0, { 6: START + HOUR - 2 })]],
    ['invalid_values', 'a close time too late', [hour(0, { 6: START + HOUR })]],
    ['zero_trades', 'a candle without trades', [hour(0, { 8: 0 })]],
    ['duplicate', 'a candle twice', [hour(0), hour(0)]],
    ['out_of_order', 'a candle after a later one', [hour(1), hour(0)]],
    ['off_grid', 'a candle between two hours', [sampleRow(START + 1, { 6: START + HOUR })]],
    ['invalid_values', 'a low above the open', [hour(0, { 1: '42555', 3: '42555.00000001' })]],
    ['invalid_values', 'a low above the close', [hour(0, { 4: '42554.56999999' })]],
    ['invalid_values', 'an open above the high', [hour(0, { 1: '42600.50000001' })]],
    ['invalid_values', 'a close above the high', [hour(0, { 4: '42600.50000001' })]],
    ['invalid_values', 'more bought by takers than traded', [hour(0, { 9: '1195.56000001' })]],
    ['invalid_values', 'more paid by takers than traded', [hour(0, { 10: '50903331.16400431' })]],
  ])('finds %s: %s', (kind, _, rows) => {
    const { anomalies } = inspect(rows)
    expect(anomalies.map(anomaly => anomaly.kind)).toEqual([kind])
    expect(anomalies[0].openTime).toBe(rows.at(-1)?.[0])
  })

  it('counts a 3d grid from the first candle', () => {
    const day = (index: number) => sampleRow(START + index * DAY, { 6: START + (index + 3) * DAY - 1 })
    expect(inspect([day(1), day(4)], '3d', '2020-01-01').anomalies).toEqual([])
    expect(inspect([day(1), day(5)], '3d', '2020-01-01').anomalies).toMatchObject([
      { kind: 'off_grid', openTime: START + 5 * DAY, description: `opens ${DAY} ms off the grid` },
    ])
  })
})
