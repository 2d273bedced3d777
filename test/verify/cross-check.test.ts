import { describe, expect, it } from 'vitest'
import { COLUMNS, type KlineRow } from '../../src/candles/columns.js'
import type { Interval } from '../../src/candles/intervals.js'
import { windowSpan } from '../../src/candles/windows.js'
import { CandleTable } from '../../src/rows/candle-table.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { aggregateOracle } from '../support/oracles/resample-oracle.js'
import { crossCheck, type WholeSeries } from '../support/whole-series.js'
import { sampleRow, toJsonBytes } from '../support/windows.js'

/** All tables of a cross-check share one kernel. */
const KERNEL = new Kernel()

const HOUR = 3_600_000
const START = Date.parse('2024-02-01')
const DAYS = 4
/** The second day, compared with its hours. */
const DAY = { symbol: 'BTCUSDT', interval: '1d', finer: '1h', openTime: START + 24 * HOUR }

/** Four days of 1h candles with different values. */
const HOURS = Array.from({ length: DAYS * 24 }, (_, hour) =>
  sampleRow(START + hour * HOUR, {
    1: `${1000 + (hour % 7)}.50000000`,
    2: `${1010 + (hour % 11)}.00000000`,
    3: `${900 - (hour % 13)}.00000000`,
    4: `${1000 + (hour % 5)}.25000000`,
    5: `${hour + 1}.00000001`,
    6: START + (hour + 1) * HOUR - 1,
    8: hour + 1,
  }),
)

/** Candles of `hours` hours each, by the BigInt oracle. */
const coarse = (hours: number) =>
  Array.from({ length: (DAYS * 24) / hours }, (_, index) =>
    aggregateOracle(START + index * hours * HOUR, HOURS.slice(index * hours, (index + 1) * hours)),
  ) as KlineRow[]

function loadSeries(interval: Interval, startDate: string, rows: readonly unknown[], to?: number): WholeSeries {
  const window = { symbol: 'BTCUSDT', interval, startDate } as const
  const { startTime, endTime } = windowSpan(window)
  const spans = [{ startTime, endTime: Math.min(endTime, to ?? START + DAYS * 24 * HOUR) }]
  const table = new CandleTable(KERNEL)
  table.add(decodeWindow(toJsonBytes(rows), window))
  return { series: { symbol: 'BTCUSDT', interval }, table, spans }
}

const loadHours = (rows: readonly unknown[] = HOURS) => loadSeries('1h', '2024-02-01', rows)
const loadChangedDays = (change: (rows: (string | number)[][]) => void) => {
  const rows = coarse(24).map(row => [...row])
  change(rows)
  return loadSeries('1d', '2024-01-01', rows)
}

describe('crossCheck', () => {
  describe('of a close time that differs', () => {
    /** The differences of a 12h candle of 10 hours, changed, from its hours. */
    const check = (change: (row: (string | number)[]) => void) => {
      const hours = HOURS.slice(0, 10)
      const half = [...aggregateOracle(START, hours)] as (string | number)[]
      change(half)
      const end = START + 12 * HOUR
      return crossCheck([loadSeries('1h', '2024-02-01', hours, end), loadSeries('12h', '2024-01-01', [half], end)])
        .differences
    }
    const closeTime = START + 10 * HOUR - 1
    const add = (ms: number) => (row: (string | number)[]) => {
      row[6] = Number(row[6]) + ms
    }

    it.each([1, -1])('by %i ms in a candle that closes early is a note', ms => {
      expect(check(add(0))).toEqual([])
      expect(check(add(ms))).toEqual([
        {
          ...{ symbol: 'BTCUSDT', interval: '12h', finer: '1h', openTime: START, column: 'close_time' },
          ...{ value: `${closeTime + ms}`, expected: `${closeTime}` },
          note: 'The candle closes early; only its close time differs, by 1 ms.',
        },
      ])
    })

    it.each([2, -2, 1000])('by %i ms is a fault', ms => {
      expect(check(add(ms))).toMatchObject([{ column: 'close_time', value: `${closeTime + ms}`, note: undefined }])
    })

    it('by 1 ms is a fault when another column differs too, and so is that one', () => {
      const differences = check(row => {
        add(1)(row)
        row[8] = Number(row[8]) + 1
      })
      expect(differences.map(({ column, note }) => [column, note])).toEqual([
        ['close_time', undefined],
        ['count', undefined],
      ])
    })

    it('by 1 ms is a fault when the candle, or what its finer candles make, closes on time', () => {
      const days = (ms: number) => loadChangedDays(rows => add(ms)(rows[1]))
      expect(crossCheck([loadHours(), days(-1)]).differences).toMatchObject([
        { column: 'close_time', openTime: START + 24 * HOUR, note: undefined },
      ])
      const early = HOURS.map((row, hour) => (hour === 47 ? Object.assign([...row], { 6: Number(row[6]) - 1 }) : row))
      expect(crossCheck([loadHours(early), days(0)]).differences).toMatchObject([
        { column: 'close_time', openTime: START + 24 * HOUR, note: undefined },
      ])
    })
  })

  it('shows each column of which one digit differs, with both values, and no amount that only has other zeros', () => {
    for (const [column, name] of COLUMNS.entries()) {
      if (name === 'open_time') continue
      const [value, expected] = [
        (cell: string | number) => `${cell}`.replace(/.$/, digit => `${9 - Number(digit)}`),
        String,
      ]
      const days = loadChangedDays(rows => {
        rows[2][1] = String(rows[2][1]).replace(/0+$/, '')
        rows[1][column] = typeof rows[1][column] === 'number' ? Number(value(rows[1][column])) : value(rows[1][column])
      })
      const cell = coarse(24)[1][column]
      expect(crossCheck([loadHours(), days]).differences, name).toEqual([
        { ...DAY, column: name, value: value(cell), expected: expected(cell), note: undefined },
      ])
    }
  })

  it('shows a candle without finer ones, and finer ones without their candle', () => {
    const lacking = loadChangedDays(rows => rows.splice(1, 1))
    expect(crossCheck([loadHours(), lacking]).differences).toMatchObject([
      { ...DAY, column: undefined, value: 'no candle', expected: '24 finer candles' },
    ])
    const { differences, unverified } = crossCheck([loadHours(HOURS.toSpliced(24, 24)), loadChangedDays(() => {})])
    expect(differences).toMatchObject([{ ...DAY, column: undefined, value: 'a candle', expected: 'no finer candle' }])
    expect([...unverified.values()]).toEqual([(DAYS - 1) * 24, 0])
  })
})
