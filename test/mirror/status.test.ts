import { expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { startDatesPath, windowPath } from '../../src/candles/paths.js'
import { seriesBeginning } from '../../src/mirror/beginning.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { firstCandle, newestCandle } from '../../src/mirror/status.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const LENGTHS = { '1h': 3_600_000, '1d': 86_400_000 }

/** A bare folder with windows of a symbol, each empty or with one candle, which opens at a time. */
function makeMirror(symbol: string, windows: readonly (readonly [keyof typeof LENGTHS, string, string?])[]): Mirror {
  const root = tempFolder()
  for (const [interval, startDate, openTime] of windows) {
    const time = Date.parse(openTime ?? startDate)
    const cells = ['1', '1', '1', '1', '0', time + LENGTHS[interval] - 1, '0', 0, '0', '0', '0']
    putFile(root, windowPath({ symbol, interval, startDate }), openTime === undefined ? [] : [[time, ...cells]])
  }
  return new Mirror(root)
}

it('the first and the newest candle of a series are those of its first and last window with candles', () => {
  const mirror = makeMirror('PEPEUSDT', [
    ['1h', '2021-12-01'],
    ['1h', '2022-01-01', '2022-01-09T05:00Z'],
    ['1h', '2022-02-01', '2022-02-01T00:00Z'],
    ['1h', '2022-03-01'],
    ['1d', '2016-01-01', '2017-08-17'],
  ])
  const ends = (interval: Interval) => {
    const series = { symbol: 'PEPEUSDT', interval }
    return [firstCandle(mirror, series), newestCandle(mirror, series)]
  }
  expect(ends('1h')).toEqual([Date.parse('2022-01-09T05:00Z'), Date.parse('2022-02-01T00:00Z')])
  expect(ends('1d')).toEqual([Date.parse('2017-08-17'), Date.parse('2017-08-17')])
  expect(ends('4h')).toEqual([undefined, undefined])
})

it.each([
  ['2022-01-01', '; 2h candles may go back to 2017-07-01; --base-url binance may have older ones'],
  // The exchange has nothing before that day.
  ['2017-07-01', ''],
])('a list that begins %s says what may have older candles%s', (first, older) => {
  const root = tempFolder()
  putFile(root, startDatesPath('1h'), [first])
  const { list } = seriesBeginning(new Mirror(root), { symbol: 'BTCUSDT', interval: '1h' }, Date.parse('2017-01-01'))
  expect(list).toEqual({ from: first, why: `the 1h list of this mirror begins ${first}${older}` })
})
