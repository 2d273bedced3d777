import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { GapCounter } from '../../src/rows/gaps.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { sampleRow, toJsonBytes } from '../support/windows.js'

/** A window's batch with candles that open at these times. */
function candles(interval: Interval, startDate: string, openTimes: readonly number[]): KlineBatch {
  const rows = openTimes.map(openTime => sampleRow(openTime))
  return decodeWindow(toJsonBytes(rows), { symbol: 'BTCUSDT', interval, startDate })
}

function countGaps(interval: Interval, batches: readonly KlineBatch[]) {
  const counter = new GapCounter({ symbol: 'BTCUSDT', interval })
  for (const batch of batches) counter.add(batch)
  return counter
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const utc = Date.UTC

describe('GapCounter counts the candles of a series and the gaps between them', () => {
  const start = utc(2024, 1, 1)
  const cases: [string, Interval, string, number[], number, number][] = [
    ['months of 31, 29 and 31 days', '1M', '2010-01-01', [utc(2024, 0, 1), utc(2024, 1, 1), utc(2024, 2, 1)], 0, 0],
    ['February missing', '1M', '2010-01-01', [utc(2023, 11, 1), utc(2024, 0, 1), utc(2024, 2, 1)], 1, 1],
    [
      'fourteen months missing across two turns of the year',
      '1M',
      '2010-01-01',
      [utc(2022, 10, 1), utc(2024, 1, 1)],
      1,
      14,
    ],
    [
      'a 3d grid that starts at the listing',
      '3d',
      '2015-01-01',
      [0, 3, 6].map(day => utc(2017, 7, 17) + day * DAY),
      0,
      0,
    ],
    ['a gap on such a grid', '3d', '2015-01-01', [0, 3, 9].map(day => utc(2018, 4, 4) + day * DAY), 1, 1],
    [
      'a gap off the grid, where as many candles are there as fit in between',
      '1h',
      '2018-02-01',
      [0, 2, 2.4, 3.1].map(hour => utc(2018, 1, 9) + hour * HOUR),
      1,
      1,
    ],
    ['weeks that open on Mondays', '1w', '2010-01-01', [0, 7, 28].map(day => utc(2019, 10, 4) + day * DAY), 1, 2],
  ]
  test.each(cases)('%s', (_, interval, startDate, openTimes, gaps, missing) => {
    expect(countGaps(interval, [candles(interval, startDate, openTimes)]).totals).toEqual({
      candles: openTimes.length,
      firstOpenTime: openTimes[0],
      lastOpenTime: openTimes.at(-1),
      gaps,
      missing,
    })
  })

  test('for any candles, however they are divided into batches', () => {
    const hours = fc.uniqueArray(fc.nat(39), { maxLength: 30 }).map(list => list.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(hours, fc.nat(30), (list, cut) => {
        const batch = candles(
          '1h',
          '2024-02-01',
          list.map(hour => start + hour * HOUR),
        )
        const steps = list.slice(1).map((hour, index) => hour - list[index])
        const end = Math.min(cut, batch.length)
        const counter = countGaps('1h', [batch.rows(0, end), batch.rows(end, batch.length)])
        expect(counter.largestGap).toBe(Math.max(0, ...steps.map(step => step - 1)))
        expect(counter.totals).toMatchObject({
          candles: list.length,
          firstOpenTime: list.length === 0 ? undefined : start + list[0] * HOUR,
          lastOpenTime: list.length === 0 ? undefined : start + (list.at(-1) as number) * HOUR,
          gaps: steps.filter(step => step > 1).length,
          missing: steps.reduce((sum, step) => sum + step - 1, 0),
        })
      }),
    )
  })
})
