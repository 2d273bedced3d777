import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { CandleFitter, type FitOptions, type FittedCandles } from '../../src/chart/candle-fitter.js'
import { cases } from '../support/cases.js'
import { decimals } from '../support/oracles/kline-arbitraries.js'
import { aggregateOracle, toAmount } from '../support/oracles/resample-oracle.js'
import { type KnownWindow, LEAP_MONTH, sampleRow, TWENTY_YEARS, toBatch } from '../support/windows.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const { startTime } = LEAP_MONTH.span

/** Rows through a fitter, in batches of so many rows. */
function fitRows(rows: readonly KlineRow[], options: FitOptions, window: KnownWindow = LEAP_MONTH, size = 50) {
  const fitter = new CandleFitter(window.window, options)
  for (let row = 0; row < rows.length; row += size) fitter.add(toBatch(rows.slice(row, row + size), window))
  return fitter.end()
}

const hours = (list: readonly number[]) =>
  list.map(hour => sampleRow(startTime + hour * HOUR, { 6: startTime + (hour + 1) * HOUR - 1 }))
const count = (length: number) => Array.from({ length }, (_, index) => index)

/** `.` is a missing candle. */
const pattern = ({ slots }: FittedCandles) => slots.map(({ candle }) => (candle ? 'c' : '.')).join('')

/** Some hours of the month, with values that can be added up exactly. */
const someHours = fc
  .uniqueArray(
    fc.record({
      hour: fc.integer({ min: 0, max: 690 }),
      values: fc.array(decimals(15, 8), { minLength: 8, maxLength: 8 }),
      trades: fc.oneof(fc.constant(0), fc.nat(1_000)),
    }),
    { selector: ({ hour }) => hour, minLength: 1, maxLength: 40 },
  )
  .map(list =>
    list
      .toSorted((a, b) => a.hour - b.hour)
      .map(({ hour, values: [a, b, c, d, e, f, g, h], trades }): KlineRow => {
        const openTime = startTime + hour * HOUR
        return [openTime, a, b, c, d, e, openTime + HOUR - 1, f, trades, g, h, '0']
      }),
  )

/** Where candles of each length open, written down apart from the sources; 3d of BTCUSDT is counted from 2017-08-17. */
const RUNGS: readonly [string, number, number][] = [
  ...[1, 2, 4, 6, 8, 12].map((hours): [string, number, number] => [`${hours}h`, hours * HOUR, 0]),
  ['1d', DAY, 0],
  ['3d', 3 * DAY, Date.UTC(2017, 7, 17)],
  ['1w', 7 * DAY, Date.UTC(1970, 0, 5)],
  ['1M', 29 * DAY, startTime],
]

/** The finest length for which all slots fit, and the exact aggregates. */
function fitOracle(rows: readonly KlineRow[], max: number) {
  for (const [name, step, anchor] of RUNGS) {
    const slotOf = (time: number) => Math.floor((time - anchor) / step)
    const [first, last] = [slotOf(rows[0][0]), slotOf(rows[rows.length - 1][0])]
    if (last - first + 1 > max) continue
    const slots = count(last - first + 1).map(index => {
      const openTime = anchor + (first + index) * step
      const group = rows.filter(([time]) => time >= openTime && time < openTime + step)
      return { openTime, row: group.length === 0 ? undefined : aggregateOracle(openTime, group) }
    })
    return { name, slots }
  }
  throw new Error('A month has one candle.')
}

describe('all candles', () => {
  it('are resampled exactly to the shortest interval for which all slots fit (BigInt oracle)', () => {
    fc.assert(
      fc.property(
        someHours,
        fc.integer({ min: 1, max: 250 }),
        fc.integer({ min: 1, max: 40 }),
        (rows, maxCandles, size) => {
          const fitted = fitRows(rows, { maxCandles, keep: 'all' }, LEAP_MONTH, size)
          const { name, slots } = fitOracle(rows, maxCandles)
          expect(fitted.interval).toBe(name)
          expect(fitted.resampledFrom).toBe(name === '1h' ? undefined : '1h')
          const cells = (row: readonly (string | number)[]) => row.slice(1, 6).map(toAmount)
          expect(
            fitted.slots.map(({ openTime, candle }) => ({
              openTime,
              cells: candle && cells([0, candle.open, candle.high, candle.low, candle.close, candle.volume]),
            })),
          ).toEqual(slots.map(({ openTime, row }) => ({ openTime, cells: row && cells(row) })))
          expect(fitted.slots.every(({ openTime, candle }) => !candle || candle.openTime === openTime)).toBe(true)
          const candles = slots.filter(({ row }) => row).length
          expect(fitted).toMatchObject({ candles, missing: slots.length - candles })
          expect([fitted.firstTime, fitted.lastTime]).toEqual([rows[0][0], rows[rows.length - 1][0]])
        },
      ),
      { numRuns: cases(80, 20) },
    )
  })

  it('end with the newest price, also when the last candle is incomplete', () => {
    const rows = hours(count(31)).map((row, hour): KlineRow => Object.assign(row, { 4: `${hour}.5` }))
    const { slots, interval } = fitRows(rows, { maxCandles: 3, keep: 'all' })
    expect(interval).toBe('12h')
    expect(slots.map(({ candle }) => candle?.close)).toEqual(['11.5', '23.5', '30.5'])
  })

  it('become months, quarters and years', () => {
    const months = count(100).map(month => sampleRow(Date.UTC(2017, month)))
    const intervals = [100, 99, 34, 33, 9, 8, 5, 3, 2, 1].map(
      maxCandles => fitRows(months, { maxCandles, keep: 'all' }, TWENTY_YEARS).interval,
    )
    // From January 2017 to April 2025: 50 times two months, 34 quarters, 17 half years, 9 years, 5 of two years
    // from 2016, 3 of five from 2015, 2 decades from 2010. 2017 and 2025 are in different ones of twenty years.
    expect(intervals).toEqual(['1M', '2M', '1q', '6M', '1y', '2y', '2y', '5y', '10y', '50y'])
  })

  it('become 3d only where the 3d grid of the symbol is known', () => {
    const window = { ...LEAP_MONTH, window: { ...LEAP_MONTH.window, symbol: 'NEWUSDT' } }
    const rows = hours(count(29 * 24))
    expect(fitRows(rows, { maxCandles: 12, keep: 'all' }, window).interval).toBe('1w')
    const anchor = startTime + 2 * DAY
    const fitted = fitRows(rows, { maxCandles: 12, keep: 'all', anchor }, window)
    expect(fitted.interval).toBe('3d')
    expect(fitted.slots[0].openTime).toBe(startTime - DAY)
  })
})

describe('the newest candles', () => {
  it('are the last ones of any batches', () => {
    const list = fc.uniqueArray(fc.nat(200), { minLength: 1, maxLength: 120 }).map(all => all.toSorted((a, b) => a - b))
    const sizes = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 60 }))
    fc.assert(
      fc.property(list, sizes, (all, [maxCandles, size]) => {
        const fitted = fitRows(hours(all), { maxCandles, keep: 'newest' }, LEAP_MONTH, size)
        const last = all[all.length - 1]
        const drawn = all.filter(hour => hour > last - maxCandles)
        const expected = count(last - drawn[0] + 1).map(index => (all.includes(drawn[0] + index) ? 'c' : '.'))
        expect(pattern(fitted)).toBe(expected.join(''))
        expect(fitted.firstTime).toBe(startTime + drawn[0] * HOUR)
      }),
    )
  })
})
