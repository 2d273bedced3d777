import { expect, it } from 'vitest'
import type { Interval } from '../../../src/candles/intervals.js'
import { windowOf } from '../../../src/candles/series.js'
import { consecutiveStartDates, formatDate } from '../../../src/candles/windows.js'
import { readDays } from '../../../src/sources/archive/csv.js'
import { archiveMonths } from '../../../src/sources/archive/zips.js'

const DAY = 86_400_000

/** Real lines of the archive, of 1d: in µs, and one of 2017 with another twelfth cell. */
const IN_2025 =
  '1735689600000000,93576.00000000,95151.15000000,92888.00000000,94591.79000000,10373.32613000,1735775999999999,975444194.13799830,1516556,5347.73648000,502914035.64059070,0'
const IN_2017 =
  '1502928000000,4261.48000000,4485.39000000,4200.74000000,4285.08000000,795.15037700,1503014399999,3454770.05073206,3427,616.24854100,2678216.40060401,10779.83873125'

/** What the exchange answers for them. */
const ROWS = [
  '[[1735689600000,"93576.00000000","95151.15000000","92888.00000000","94591.79000000","10373.32613000",1735775999999,"975444194.13799830",1516556,"5347.73648000","502914035.64059070","0"]]',
  '[[1502928000000,"4261.48000000","4485.39000000","4200.74000000","4285.08000000","795.15037700",1503014399999,"3454770.05073206",3427,"616.24854100","2678216.40060401","0"]]',
]

it('lines become the rows of the exchange', () => {
  const csv = Buffer.from(`${IN_2025}\n${IN_2017}`)
  const days = [Date.UTC(2025, 0), Date.UTC(2017, 7, 17)]
  const texts = readDays(csv)
  expect(days.map(day => texts.get(day)?.toString())).toEqual(ROWS)
})

it('a line of thirteen cells is a row that the codec refuses', () => {
  const [day, csv] = [Date.UTC(2025, 0), Buffer.from(`${IN_2025},0\n`)]
  expect(String(readDays(csv).get(day))).toBe('[[]]')
})

it('months have the days of 1m, 3m and 5m that ended a day ago, from fifteen missing ones on', () => {
  const last = Date.UTC(2024, 0, 31)
  const days = (interval: Interval, count: number) =>
    consecutiveStartDates('1m', formatDate(last - (count - 1) * DAY), last).map(date =>
      windowOf({ symbol: 'A', interval }, date),
    )
  const found = (interval: Interval, count: number, now: number) =>
    archiveMonths(days(interval, count), now).map(({ month, windows }) => `${month} ${windows.length}`)
  const dayAfter = last + 2 * DAY
  expect(found('5m', 33, dayAfter)).toEqual(['2023-12 2', '2024-01 31'])
  expect([found('1m', 15, dayAfter), found('1m', 14, dayAfter)]).toEqual([['2024-01 15'], []])
  expect([found('3m', 16, dayAfter - 1), found('15m', 31, dayAfter)]).toEqual([['2024-01 15'], []])
})
