import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LoadedSeries } from '../../../src/klines/audit/compare-series.js'
import { crossCheck } from '../../../src/klines/audit/cross-check.js'
import { decodeWindow } from '../../../src/klines/batch/window-codec.js'
import { COLUMNS, type KlineRow } from '../../../src/klines/columns.js'
import type { Interval } from '../../../src/klines/intervals.js'
import { CandleTable } from '../../../src/klines/kernel/candle-table.js'
import { Kernel } from '../../../src/klines/kernel/kernel.js'
import { windowSpan } from '../../../src/klines/windows.js'
import { aggregateOracle } from '../../support/oracles/resample-oracle.js'
import { sampleRow, toJsonBytes } from '../../support/windows.js'

/** All tables of an audit share one. */
const KERNEL = new Kernel()

const HOUR = 3_600_000
const START = Date.parse('2024-02-01')
const DAYS = 4

/** Four days of hours whose values differ from one another. */
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

/** The candles of `hours` hours each, by the rule in BigInt. */
const coarse = (hours: number) =>
  Array.from({ length: (DAYS * 24) / hours }, (_, index) =>
    aggregateOracle(START + index * hours * HOUR, HOURS.slice(index * hours, (index + 1) * hours)),
  ) as KlineRow[]

function held(interval: Interval, startDate: string, rows: readonly unknown[], to?: number): LoadedSeries {
  const window = { symbol: 'BTCUSDT', interval, startDate } as const
  const { startTime, endTime } = windowSpan(window)
  const spans = [{ startTime, endTime: Math.min(endTime, to ?? START + DAYS * 24 * HOUR) }]
  const table = new CandleTable(KERNEL)
  table.add(decodeWindow(toJsonBytes(rows), window))
  return { series: { symbol: 'BTCUSDT', interval }, table, spans }
}

const hoursHeld = (rows: readonly unknown[] = HOURS) => held('1h', '2024-02-01', rows)
const dayRows = (change: (rows: (string | number)[][]) => void) => {
  const rows = coarse(24).map(row => [...row])
  change(rows)
  return held('1d', '2024-01-01', rows)
}

describe('the audit', () => {
  it('finds candles that are the sum of their finer ones the same, pair by pair', () => {
    const audit = crossCheck([hoursHeld(), held('4h', '2024-01-01', coarse(4)), held('1d', '2024-01-01', coarse(24))])
    expect(audit.differences).toEqual([])
    expect(audit.pairs.map(({ finer, interval, comparisons }) => [finer, interval, comparisons])).toEqual([
      ['1h', '4h', DAYS * 6],
      ['1h', '1d', DAYS],
      ['4h', '1d', DAYS],
    ])
    expect([...audit.unverified]).toEqual([
      ['1h', DAYS * 24],
      ['4h', 0],
      ['1d', 0],
    ])
  })

  it('finds any digit that was changed for another one, and says where and what it should be', () => {
    fc.assert(
      fc.property(
        fc.nat(DAYS - 1),
        fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
        fc.nat(30),
        fc.integer({ min: 1, max: 9 }),
        (day, column, place, by) => {
          const original = coarse(24)[day]
          const digits = [...String(original[column])]
          const places = digits.flatMap((digit, index) => (/\d/.test(digit) ? [index] : []))
          const index = places[place % places.length]
          digits[index] = String((Number(digits[index]) + by) % 10)
          const flipped = digits.join('')
          const cell = typeof original[column] === 'number' ? Number(flipped) : flipped
          // A close time before the open time is the codec's to refuse.
          fc.pre(column !== 6 || Number(cell) >= original[0])
          fc.pre(Number.isSafeInteger(Number(cell)) || typeof cell === 'string')
          const { differences } = crossCheck([
            hoursHeld(),
            dayRows(rows => {
              rows[day][column] = cell
            }),
          ])
          expect(differences).toEqual([
            {
              symbol: 'BTCUSDT',
              interval: '1d',
              finer: '1h',
              openTime: START + day * 24 * HOUR,
              column: COLUMNS[column],
              // Zeros in front say nothing.
              value: String(cell).replace(/^0+(?=\d)/, ''),
              expected: String(original[column]),
              note: false,
            },
          ])
        },
      ),
      { numRuns: 300 },
    )
  })

  it('does not take a stretch for sound that nothing covers', () => {
    const half = held('1h', '2024-02-01', HOURS.slice(0, 36), START + 36 * HOUR)
    const { pairs, differences, unverified } = crossCheck([
      half,
      dayRows(rows => {
        rows[2][5] = '1'
      }),
    ])
    expect([pairs[0].comparisons, differences, unverified.get('1d')]).toEqual([1, [], DAYS - 1])
  })

  it('does not compare across windows that are not held', () => {
    const { symbol, interval } = { symbol: 'BTCUSDT', interval: '1h' } as const
    const spans = [
      { startTime: START, endTime: START + 24 * HOUR },
      { startTime: START + 48 * HOUR, endTime: START + 96 * HOUR },
    ]
    const rows = HOURS.filter((_, hour) => hour < 24 || hour >= 48)
    const finer = { series: { symbol, interval }, table: hoursHeld(rows).table, spans }
    const { pairs, differences, unverified } = crossCheck([finer, held('1d', '2024-01-01', coarse(24))])
    expect([pairs[0].comparisons, differences, unverified.get('1d')]).toEqual([3, [], 1])
  })

  it('asks for no candle where the coarser series is not held', () => {
    const later = {
      ...held('1d', '2024-01-01', coarse(24).slice(2)),
      spans: [{ startTime: START + 48 * HOUR, endTime: START + 96 * HOUR }],
    }
    const { pairs, differences } = crossCheck([hoursHeld(), later])
    expect([pairs[0].comparisons, differences]).toEqual([2, []])
  })

  it('says when one side has a candle and the other has none', () => {
    const without = dayRows(rows => rows.splice(1, 1))
    expect(crossCheck([hoursHeld(), without]).differences).toMatchObject([
      { openTime: START + 24 * HOUR, column: undefined, value: 'no candle' },
    ])
    const hole = hoursHeld(HOURS.filter((_, hour) => hour < 24 || hour >= 48))
    expect(crossCheck([hole, held('1d', '2024-01-01', coarse(24))]).differences).toMatchObject([
      { openTime: START + 24 * HOUR, column: undefined, expected: 'no finer candle' },
    ])
  })

  it('takes what is the same amount with other zeros for the same', () => {
    expect(
      crossCheck([
        hoursHeld(),
        dayRows(rows => {
          rows[0][1] = String(rows[0][1]).replace(/0+$/, '')
        }),
      ]).differences,
    ).toEqual([])
  })
})
