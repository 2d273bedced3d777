import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { INTERVALS, type Interval } from '../../src/candles/intervals.js'
import { exchangeStartDates, knownStartDates, windowSpan } from '../../src/candles/windows.js'
import { hasRealTree, realTree } from '../support/oracles/real-tree.js'

/** Only lists of 1m, 3m and 5m depend on the present. */
const NOW = Date.UTC(2026, 3, 30, 4, 20)

/** The first and last window of each interval, and their number: counted by hand from the lengths of the windows. */
const TABLE: [Interval, string, string, number][] = [
  ['15m', '2017-06-26', '2039-12-26', 783 + 392],
  ['30m', '2017-06-26', '2039-12-26', 418 + 170],
  ['1h', '2017-07-01', '2039-12-01', 216 + 54],
  ['2h', '2017-07-01', '2039-11-01', 135],
  ['4h', '2017-07-01', '2039-10-01', 90],
  ['6h', '2017-07-01', '2039-07-01', 45],
  ['8h', '2017-07-01', '2039-07-01', 45],
  ['12h', '2017-01-01', '2039-01-01', 23],
  ['1d', '2016-01-01', '2038-01-01', 12],
  ['3d', '2015-01-01', '2035-01-01', 5],
  ['1w', '2010-01-01', '2030-01-01', 3],
  ['1M', '2010-01-01', '2030-01-01', 2],
]

describe('the start dates of the exchange', () => {
  it('are there for every interval', () => {
    expect(TABLE.map(([interval]) => interval)).toEqual([...INTERVALS])
  })

  it.each(TABLE)('%s: from %s to %s, %i in all', (interval, first, last, count) => {
    const dates = exchangeStartDates(interval, NOW)
    expect([dates[0], dates.at(-1), dates.length]).toEqual([first, last, count])
  })

  it.each(INTERVALS)(
    '%s: the first window contains the opening of the exchange, the published ones are the last',
    interval => {
      const dates = exchangeStartDates(interval, NOW)
      const published = knownStartDates(interval)
      expect(dates.slice(-published.length)).toEqual(published)
      expect(dates[0] <= '2017-07-01').toBe(true)
      // The published windows of 12h and longer begin earlier, and keep their places.
      if (dates[0] !== published[0])
        expect(windowSpan({ interval, startDate: dates[0] }).endTime).toBeGreaterThan(Date.UTC(2017, 6))
    },
  )

  it.runIf(hasRealTree).each(INTERVALS)(
    '%s: has all of the published list (skipped without ../shared/data)',
    interval => {
      const text = readFileSync(join(realTree(), `api/klines/start-dates/${interval}.json`), 'utf8')
      const known = new Set(exchangeStartDates(interval, NOW))
      expect((JSON.parse(text) as string[]).filter(date => !known.has(date))).toEqual([])
    },
  )

  it('of 15m and 30m are Mondays, those of the others first days of a month', () => {
    for (const interval of INTERVALS) {
      const isDays = interval === '15m' || interval === '30m'
      const isStart = (date: string) => (isDays ? new Date(date).getUTCDay() === 1 : date.endsWith('-01'))
      expect(
        exchangeStartDates(interval, NOW).filter(date => !isStart(date)),
        interval,
      ).toEqual([])
    }
  })
})
