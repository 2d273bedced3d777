import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { type ResampleOptions, Resampler, sourceRange } from '../../src/rows/resampler.js'
import { parseTargetInterval } from '../../src/rows/target-interval.js'
import { cases } from '../support/cases.js'
import { decimals } from '../support/oracles/kline-arbitraries.js'
import { aggregateOracle, toAmount } from '../support/oracles/resample-oracle.js'
import { LEAP_MONTH, sampleRow, toBatch } from '../support/windows.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const { startTime } = LEAP_MONTH.span
const SOURCE = { symbol: 'BTCUSDT', interval: '1h' } as const

const toRows = (batches: readonly (KlineBatch | undefined)[]) =>
  batches.flatMap(batch => (batch ? Array.from({ length: batch.length }, (_, row) => batch.row(row)) : []))

/** Rows through a resampler, in batches cut at `cuts`. */
function resampled(
  rows: readonly KlineRow[],
  target: string,
  { cuts = [], ...options }: ResampleOptions & { cuts?: number[] } = {},
): KlineRow[] {
  const resampler = new Resampler(SOURCE, parseTargetInterval(target), options)
  const ends = [...new Set([...cuts.map(cut => cut % (rows.length + 1)), rows.length])].sort((a, b) => a - b)
  const batches = ends.map((end, index) => resampler.add(toBatch(rows.slice(ends[index - 1] ?? 0, end), LEAP_MONTH)))
  return toRows([...batches, resampler.end()])
}

const hours = (count: number, cells: (hour: number) => Record<number, unknown> = () => ({})) =>
  Array.from({ length: count }, (_, hour) =>
    sampleRow(startTime + hour * HOUR, { 6: startTime + (hour + 1) * HOUR - 1, ...cells(hour) }),
  )

/** Some hours of the month, each with any values that can be added up exactly. */
const someHours = fc
  .array(
    fc.record({
      hour: fc.integer({ min: 0, max: 99 }),
      values: fc.array(decimals(15, 8), { minLength: 8, maxLength: 8 }),
      count: fc.oneof(fc.constant(0), fc.nat(1_000_000)),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map(list => {
    const byHour = [...new Map(list.map(item => [item.hour, item])).values()].sort((a, b) => a.hour - b.hour)
    return byHour.map(({ hour, values: [a, b, c, d, e, f, g, h], count }): KlineRow => {
      const openTime = startTime + hour * HOUR
      return [openTime, a, b, c, d, e, openTime + HOUR - 1, f, count, g, h, '0']
    })
  })

describe('resampling', () => {
  it.each(['2h', '3h', '1d', '1w'])(
    'to %s returns exact aggregates, however batches are divided (BigInt oracle)',
    target => {
      fc.assert(
        fc.property(someHours, fc.array(fc.nat(40), { maxLength: 3 }), (rows, cuts) => {
          const step = { '2h': 2 * HOUR, '3h': 3 * HOUR, '1d': DAY, '1w': 7 * DAY }[target] as number
          const anchor = target === '1w' ? 4 * DAY : 0
          const groups = groupRows(rows, ([time]) => Math.floor((time - anchor) / step) * step + anchor)
          const expected = [...groups].map(([openTime, group]) => aggregateOracle(openTime, group))
          const actual = resampled(rows, target, { cuts, partial: true })
          const values = (row: readonly (string | number)[]) => row.map(toAmount)
          expect(actual.map(values)).toEqual(expected.map(values))
        }),
        { numRuns: cases(200, 40) },
      )
    },
  )

  it('writes sums with as many decimals as the most precise summand', () => {
    const [candle] = resampled(
      hours(24, hour => ({ 5: hour === 7 ? '0.125' : '1', 7: '2' })),
      '1d',
    )
    expect([candle[5], candle[7]]).toEqual(['23.125', '48'])
  })

  it('ignores candles without trades, unless all have none', () => {
    const quiet = { 1: '9', 2: '9', 3: '9', 4: '9', 5: '0', 7: '0', 8: 0, 9: '0', 10: '0' }
    const rows = hours(4, hour => (hour === 0 || hour === 3 ? { ...quiet, 6: startTime + hour * HOUR } : { 8: 5 }))
    const [candle] = resampled(rows, '4h')
    expect([candle[1], candle[2], candle[4], candle[6], candle[8]]).toEqual([
      '42580.00000000',
      '42600.50000000',
      '42570.10000000',
      startTime + 3 * HOUR - 1,
      10,
    ])
    expect(
      resampled(
        hours(4, () => quiet),
        '4h',
      )[0].slice(1, 9),
    ).toEqual(['9', '9', '9', '9', '0', startTime + 4 * HOUR - 1, '0', 0])
  })

  it('leaves out an incomplete last candle, unless partial candles are wanted', () => {
    expect(resampled(hours(47), '1d')).toHaveLength(1)
    expect(resampled(hours(48), '1d')).toHaveLength(2)
    expect(resampled(hours(47), '1d', { partial: true })).toHaveLength(2)
  })

  it('has an incomplete last candle of a source that is known to have no more up to its end', () => {
    const ended = (completeUntil: number) => {
      const resampler = new Resampler(SOURCE, parseTargetInterval('1d'))
      return toRows([resampler.add(toBatch(hours(30), LEAP_MONTH)), resampler.end(completeUntil)])
    }
    expect(ended(startTime + 2 * DAY)).toEqual(resampled(hours(30), '1d', { partial: true }))
    expect(ended(startTime + 2 * DAY - 1)).toEqual(resampled(hours(30), '1d'))
    expect([ended(Infinity).length, ended(-Infinity).length]).toEqual([2, 1])
  })

  it('treats a candle as complete when source candles are missing in it, but not at its end', () => {
    const rows = hours(48).filter((_, hour) => hour !== 5 && hour !== 23)
    expect(resampled(rows, '1d').map(([time]) => time)).toEqual([startTime, startTime + DAY])
  })

  it('leaves out a first candle that starts before the source', () => {
    const late = hours(48).slice(1)
    expect(resampled(late, '1d', { coveredFrom: startTime + HOUR }).map(([time]) => time)).toEqual([startTime + DAY])
    expect(resampled(late, '1d', { coveredFrom: startTime })).toHaveLength(2)
    expect(resampled(late, '1d', { coveredFrom: startTime + HOUR, partial: true })).toHaveLength(2)
    expect(resampled(hours(48), '1d')).toHaveLength(2)
  })

  it('returns the candles whose own open time is in the range', () => {
    const range = { fromTime: startTime + 1, toTime: startTime + 2 * DAY + 1 }
    expect(resampled(hours(96), '1d', { range }).map(([time]) => time)).toEqual([startTime + DAY, startTime + 2 * DAY])
    expect(sourceRange(SOURCE, parseTargetInterval('1d'), range).toTime).toBe(startTime + 3 * DAY)
    expect(sourceRange(SOURCE, parseTargetInterval('1d'), { ...range, toTime: startTime + DAY }).toTime).toBe(
      startTime + DAY,
    )
    const atEnd = { ...range, toTime: startTime + 2 * DAY }
    expect(resampled(hours(96), '1d', { range: atEnd }).map(([time]) => time)).toEqual([startTime + DAY])
    const open = { fromTime: -Infinity, toTime: Infinity }
    for (const name of ['1d', '1M']) expect(sourceRange(SOURCE, parseTargetInterval(name), open)).toEqual(open)
    expect(resampled(hours(48), '1d', { range: open })).toHaveLength(2)
  })

  it('adds up decimals of any length, and leaves zeros behind the eighth digit out', () => {
    const volumeOf = (text: string) =>
      resampled(
        hours(24, hour => ({ 5: hour === 7 ? text : '1.5' })),
        '1d',
      )[0][5]
    expect(volumeOf('1.123456789')).toBe('35.623456789')
    expect(volumeOf('1000000000000000.00')).toBe('1000000000000034.50')
    expect(volumeOf('1000000000000000')).toBe('1000000000000034.5')
    expect(volumeOf('123456789012345678901234567890.123456789012')).toBe('123456789012345678901234567924.623456789012')
    expect(volumeOf('0001.1234567800')).toBe('35.62345678')
  })
})

function groupRows(rows: readonly KlineRow[], key: (row: KlineRow) => number): Map<number, KlineRow[]> {
  const groups = new Map<number, KlineRow[]>()
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row])
  return groups
}
