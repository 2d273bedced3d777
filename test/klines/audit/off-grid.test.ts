import { describe, expect, it, test } from 'vitest'
import { OnGridTime } from '../../../src/klines/audit/checked-series.js'
import { decodeWindow } from '../../../src/klines/batch/window-codec.js'
import { mayBeOffGrid } from '../../../src/klines/candle-times.js'
import type { Interval } from '../../../src/klines/intervals.js'
import { CandleTable } from '../../../src/klines/kernel/candle-table.js'
import { Kernel } from '../../../src/klines/kernel/kernel.js'
import {
  BACK_ON_GRID,
  DAY,
  DAYS,
  END,
  HALF_HOURS,
  HOUR,
  HOURS,
  LAST_OFF_GRID,
  OFF_GRID_QUARTERS,
  QUARTERS,
  RESUMED,
  START,
  TWO_HOURS,
} from '../../support/off-grid-tree.js'
import { crossCheck, type WholeSeries } from '../../support/whole-series.js'
import { toJsonBytes } from '../../support/windows.js'

const KERNEL = new Kernel()
/** A startDate of each interval whose window holds the row of that open time. */
const START_DATES: Record<string, (openTime: number) => string> = {
  '15m': openTime => weekOf(openTime, 7),
  '30m': openTime => weekOf(openTime, 14),
  '1h': openTime => `${new Date(openTime).toISOString().slice(0, 7)}-01`,
  '2h': openTime => (openTime < END ? '2018-01-01' : '2018-03-01'),
  '1d': () => '2018-01-01',
}

function weekOf(openTime: number, days: number): string {
  const monday = Date.parse('2018-01-22')
  const start = monday + Math.floor((openTime - monday) / (days * DAY)) * days * DAY
  return new Date(start).toISOString().slice(0, 10)
}

function loadTable(interval: Interval, rows: readonly unknown[][]): CandleTable {
  const table = new CandleTable(KERNEL)
  for (const row of rows) {
    const startDate = START_DATES[interval](row[0] as number)
    table.add(decodeWindow(toJsonBytes([row]), { symbol: 'BTCUSDT', interval, startDate }))
  }
  return table
}

/** A series whose candles from `from` to `to` are all loaded. */
function load(
  interval: Interval,
  rows: readonly unknown[][],
  [from, to]: readonly number[] = [START, END],
  before?: number,
): WholeSeries {
  const inside = rows.filter(row => Number(row[0]) >= from && Number(row[0]) < to)
  const spans = [{ startTime: from, endTime: to }]
  return { series: { symbol: 'BTCUSDT', interval }, table: loadTable(interval, inside), spans, before }
}

test('candles before March 2018 may be off the grid', () => {
  expect(
    ['2017-07-14', '2018-02-28T23:59:59.999Z', '2018-03-01', '2024-02-01'].map(Date.parse).map(mayBeOffGrid),
  ).toEqual([true, true, false, false])
})

describe('OnGridTime', () => {
  const spansOf = (rows: readonly unknown[][], before?: number) => {
    const table = loadTable('1h', rows)
    const firstOpenTime = rows.length > 0 ? table.openTime(0) : undefined
    const onGridTime = new OnGridTime({ symbol: 'BTCUSDT', interval: '1h' }, firstOpenTime, before)
    onGridTime.add(table)
    return onGridTime.spans
  }
  const lastEnd = LAST_OFF_GRID + HOUR

  it('is all time for a series on the grid, and for none', () => {
    const all = [{ startTime: -Infinity, endTime: Infinity }]
    expect(spansOf([])).toEqual(all)
    expect(spansOf(HOURS.slice(0, 160))).toEqual(all)
  })

  it('ends where the first candle off the grid opens, and goes on where the last one should close', () => {
    expect(spansOf(HOURS)).toEqual([
      { startTime: -Infinity, endTime: RESUMED },
      { startTime: lastEnd, endTime: Infinity },
    ])
  })

  it('has no time between candles off the grid, also when some are missing', () => {
    const some = HOURS.filter(([openTime]) => openTime <= RESUMED || openTime >= LAST_OFF_GRID)
    expect(spansOf(some)).toEqual(spansOf(HOURS))
  })

  it('has the time between two stretches', () => {
    const [first, second] = [START + 28 * 60_000, START + 10 * HOUR + 1]
    const candle = (openTime: number, closeTime: number) => HOURS[0].with(0, openTime).with(6, closeTime) as unknown[]
    const rows = [candle(first, first + HOUR - 1), HOURS[5], candle(second, second + HOUR - 1)]
    expect(spansOf(rows)).toEqual([
      { startTime: -Infinity, endTime: first },
      { startTime: first + HOUR, endTime: second },
      { startTime: second + HOUR, endTime: Infinity },
    ])
    // One hour on the grid within the last one off it.
    const touching = [candle(first, first + HOUR - 1), HOURS[1], candle(first + HOUR - 1, first + 2 * HOUR - 2)]
    expect(spansOf(touching)).toEqual([
      { startTime: -Infinity, endTime: first },
      { startTime: first + 2 * HOUR - 1, endTime: Infinity },
    ])
  })

  it('knows a candle off the grid before the first one', () => {
    const after = HOURS.filter(([openTime]) => openTime >= BACK_ON_GRID)
    expect(spansOf(after, LAST_OFF_GRID).at(-1)).toEqual({ startTime: lastEnd, endTime: Infinity })
    expect(spansOf([], LAST_OFF_GRID).at(-1)).toEqual({ startTime: lastEnd, endTime: Infinity })
    expect(spansOf(after, BACK_ON_GRID - HOUR)).toEqual([{ startTime: -Infinity, endTime: Infinity }])
  })
})

describe('crossCheck around candles that the exchange has off the grid', () => {
  const series = { '15m': QUARTERS, '30m': HALF_HOURS, '1h': HOURS, '2h': TWO_HOURS, '1d': DAYS }
  const loadAll = (changed: Partial<Record<Interval, readonly unknown[][]>> = {}) =>
    Object.entries({ ...series, ...changed }).map(([interval, rows]) => load(interval as Interval, rows))
  const comparisonsOf = ({ pairs }: ReturnType<typeof crossCheck>) =>
    Object.fromEntries(pairs.map(({ finer, interval, comparisons }) => [`${finer} ${interval}`, comparisons]))

  it('finds no difference, and compares all that lies outside of the stretch', () => {
    const result = crossCheck(loadAll())
    expect(result.differences).toEqual([])
    // Hours: from 1 February to the early close, then from 11 February 05:00. Two hours: from 06:00. Days: 1 to 8, 12 to 28.
    const hours = 7 * 24 + 1 + 19 + 17 * 24
    const twoHours = 7 * 12 + 1 + 9 + 17 * 12
    expect(comparisonsOf(result)).toEqual({
      ...{ '15m 30m': HALF_HOURS.length, '15m 1h': hours, '15m 2h': TWO_HOURS.length, '15m 1d': 28 },
      ...{ '30m 1h': hours, '30m 2h': TWO_HOURS.length, '30m 1d': 28 },
      ...{ '1h 2h': twoHours, '1h 1d': 8 + 17, '2h 1d': 28 },
    })
    // The hours of the stretch, and the one that opens in its last candle.
    expect(result.unverified.get('1h')).toBe(43 + 1)
  })

  it('counts the coarser candles of the stretch as unverified where nothing else confirms them', () => {
    const { differences, unverified } = crossCheck([load('1h', HOURS), load('2h', TWO_HOURS), load('1d', DAYS)])
    expect(differences).toEqual([])
    // 10:00 on 9 February to 04:00 on 11 February. The days are compared with those two hours.
    expect([unverified.get('2h'), unverified.get('1d')]).toEqual([22, 0])
    const alone = crossCheck([load('1h', HOURS), load('1d', DAYS)])
    expect([alone.differences, alone.unverified.get('1d')]).toEqual([[], 3])
  })

  it('compares neither of two series that are off the grid, each for its own time', () => {
    const result = crossCheck(loadAll({ '15m': OFF_GRID_QUARTERS }))
    expect(result.differences).toEqual([])
    // The quarters are back on the grid on 10 February at 06:00, and the last one off it ends at 06:13.
    expect(comparisonsOf(result)['15m 2h']).toBe(7 * 12 + 1 + 8 + 18 * 12)
    expect(comparisonsOf(result)['15m 1h']).toBe(7 * 24 + 1 + 19 + 17 * 24)
    expect(result.unverified.get('1h')).toBe(43 + 1)
  })

  it.each([
    ['before it', Date.parse('2018-02-08')],
    ['after it', Date.parse('2018-02-11T06:00Z')],
  ])('finds a changed volume %s', (_, openTime) => {
    const changed = TWO_HOURS.map(row => (row[0] === openTime ? row.with(5, '1.00000000') : row) as unknown[])
    const { differences } = crossCheck([load('1h', HOURS), load('2h', changed)])
    expect(differences).toMatchObject([
      { interval: '2h', finer: '1h', openTime, column: 'volume', value: '1.00000000' },
    ])
  })

  it('of a range that begins with the first candle on the grid knows the one before', () => {
    const range = [BACK_ON_GRID, END]
    const twoHours = load('2h', TWO_HOURS, range)
    const { differences, unverified } = crossCheck([load('1h', HOURS, range, LAST_OFF_GRID), twoHours])
    expect([differences, unverified.get('2h')]).toEqual([[], 1])
    expect(crossCheck([load('1h', HOURS, range), twoHours]).differences).not.toEqual([])
  })
})
