import { describe, expect, test } from 'vitest'
import { INTERVALS, type Interval } from '../../src/candles/intervals.js'
import {
  exchangeStartDates,
  isStartDate,
  knownStartDates,
  parseDate,
  windowLength,
  windowSpan,
} from '../../src/candles/windows.js'

/**
 * Length of the windows, first and last startDate, number of windows: measured on the service's whole tree. Then the first one of the
 * exchange, which opened on 14 July 2017, and how many it has, counted by hand.
 */
const TABLE: [Interval, string, string, string, number, string, number][] = [
  ['15m', '7 days', '2024-12-30', '2039-12-26', 783, '2017-06-26', 1175],
  ['30m', '14 days', '2024-01-01', '2039-12-26', 418, '2017-06-26', 588],
  ['1h', '1 month', '2022-01-01', '2039-12-01', 216, '2017-07-01', 270],
  ['2h', '2 months', '2017-07-01', '2039-11-01', 135, '2017-07-01', 135],
  ['4h', '3 months', '2017-07-01', '2039-10-01', 90, '2017-07-01', 90],
  ['6h', '6 months', '2017-07-01', '2039-07-01', 45, '2017-07-01', 45],
  ['8h', '6 months', '2017-07-01', '2039-07-01', 45, '2017-07-01', 45],
  ['12h', '1 year', '2017-01-01', '2039-01-01', 23, '2017-01-01', 23],
  ['1d', '2 years', '2016-01-01', '2038-01-01', 12, '2016-01-01', 12],
  ['3d', '5 years', '2015-01-01', '2035-01-01', 5, '2015-01-01', 5],
  ['1w', '10 years', '2010-01-01', '2030-01-01', 3, '2010-01-01', 3],
  ['1M', '20 years', '2010-01-01', '2030-01-01', 2, '2010-01-01', 2],
]

describe('the windows of an interval', () => {
  test.each(TABLE)(
    '%s: windows of %s from %s to %s, %i in all',
    (interval, length, first, last, count, opened, all) => {
      const dates = knownStartDates(interval)
      expect([windowLength(interval), dates[0], dates.at(-1), dates.length]).toEqual([length, first, last, count])
      // Only lists of 1m, 3m and 5m depend on the present.
      const ofExchange = exchangeStartDates(interval, '2017-07-01', 0)
      expect([ofExchange[0], ofExchange.length, ofExchange.slice(-count)]).toEqual([opened, all, dates])
    },
  )

  test.each(INTERVALS)('%s: each ends where the next one starts', interval => {
    const spans = knownStartDates(interval).map(startDate => windowSpan({ interval, startDate }))
    for (const [index, span] of spans.entries()) {
      expect(span.endTime).toBeGreaterThan(span.startTime)
      if (index > 0) expect(span.startTime).toBe(spans[index - 1].endTime)
    }
  })

  const candidates: [Interval, string, boolean][] = [
    ['15m', '2024-12-23', true],
    ['15m', '2024-12-31', false],
    ['30m', '2024-01-08', false],
    ['30m', '2023-12-18', true],
    ['2h', '2017-08-01', false],
    ['2h', '2017-05-01', true],
    ['4h', '2024-04-01', true],
    ['4h', '2024-05-01', false],
    ['6h', '2024-01-01', true],
    ['6h', '2024-04-01', false],
    ['1d', '2024-01-01', true],
    ['1d', '2023-01-01', false],
    ['3d', '2040-01-01', true],
    ['1w', '1990-01-01', true],
    ['1M', '2050-01-01', true],
    ['1M', '2020-01-01', false],
  ]
  test.each(candidates)(
    '%s: a window can start on %s, also outside the known range: %s',
    (interval, date, expected) => {
      expect(isStartDate(interval, date)).toBe(expected)
    },
  )
})

describe('a date', () => {
  test('is a real day as YYYY-MM-DD, at midnight UTC', () => {
    expect(parseDate('2024-02-29')).toBe(1_709_164_800_000)
    expect(parseDate('1970-01-01')).toBe(0)
  })

  test.each([
    '2024-02-31',
    '2023-02-29',
    '2024-13-01',
    '2024-1-1',
    '2024-01-01T00:00:00Z',
    '2024-01-01\n',
    '٢٠٢٤-01-01',
    '',
  ])('%j is refused', text => {
    expect(() => parseDate(text)).toThrow(
      expect.objectContaining({
        code: 'bad_time',
        message: `"${text}" is not a date. Expected a real day as YYYY-MM-DD.`,
      }),
    )
  })
})
