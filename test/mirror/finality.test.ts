import { describe, expect, it } from 'vitest'
import { decodeWindow } from '../../src/klines/batch/window-codec.js'
import type { Interval } from '../../src/klines/intervals.js'
import { isFinal } from '../../src/mirror/finality.js'
import { candle, windowBytes } from '../support/synthetic-tree.js'

const MINUTE = 60_000
const DAY = 86_400_000

/** A window with one candle at each time, and what is known besides. `later`: the last startDate that holds candles. */
function finalOf(interval: Interval, startDate: string, times: readonly string[], mtime: string, later?: string) {
  const window = { symbol: 'BTCUSDT', interval, startDate } as const
  const batch = decodeWindow(windowBytes(times.map(time => candle(Date.parse(time)))), window)
  return isFinal(window, batch, { mtimeMs: Date.parse(mtime), lastPopulated: () => later })
}

describe('a window is final when its last candle reaches its end, whatever the file says of its time', () => {
  it.each<[Interval, string, string]>([
    ['15m', '2025-01-06', '2025-01-12T23:45Z'],
    ['30m', '2024-01-01', '2024-01-14T23:30Z'],
    ['1h', '2024-02-01', '2024-02-29T23:00Z'],
    ['2h', '2017-07-01', '2017-08-31T22:00Z'],
    ['4h', '2024-10-01', '2024-12-31T20:00Z'],
    ['6h', '2024-07-01', '2024-12-31T18:00Z'],
    ['8h', '2024-07-01', '2024-12-31T16:00Z'],
    ['12h', '2024-01-01', '2024-12-31T12:00Z'],
    ['1d', '2022-01-01', '2023-12-31T00:00Z'],
    // These open before the window's end and close after it: the next one belongs to the next window.
    ['3d', '2015-01-01', '2019-12-30T00:00Z'],
    ['3d', '2020-01-01', '2024-12-29T00:00Z'],
    ['1w', '2010-01-01', '2019-12-30T00:00Z'],
    ['1M', '2010-01-01', '2029-12-01T00:00Z'],
  ])('%s %s with the candle of %s', (interval, startDate, last) => {
    for (const mtime of ['1970-01-01', '2025-02-12', '2100-01-01']) {
      expect(finalOf(interval, startDate, [last], mtime)).toBe(true)
    }
  })
})

describe('a window whose last candle does not reach its end is not final on its own', () => {
  it.each<[Interval, string, string]>([
    ['15m', '2025-01-06', '2025-01-12T23:30Z'],
    ['1h', '2024-02-01', '2024-02-29T22:00Z'],
    ['2h', '2017-07-01', '2017-08-31T20:00Z'],
    ['1d', '2022-01-01', '2023-12-30T00:00Z'],
    ['3d', '2015-01-01', '2019-12-28T00:00Z'],
    ['1w', '2010-01-01', '2019-12-23T00:00Z'],
    ['1M', '2010-01-01', '2029-11-01T00:00Z'],
  ])('%s %s with the candle of %s', (interval, startDate, last) => {
    for (const mtime of ['1970-01-01', '2025-02-12', '2100-01-01']) {
      expect(finalOf(interval, startDate, [last], mtime)).toBe(false)
      expect(finalOf(interval, startDate, [last], mtime, startDate)).toBe(false)
    }
  })
})

describe('a window that is empty or partial is final only when a later one holds candles and the file was made a day after its end', () => {
  const startDate = '2025-01-06'
  const end = Date.parse('2025-01-13')
  const at = (time: number) => new Date(time).toISOString()
  const [before, after] = ['2024-12-30', '2025-01-13']

  it.each<[string, string, string | undefined, boolean]>([
    ['nothing else held, old file', at(end - DAY), undefined, false],
    ['nothing else held, new file', at(end + 30 * DAY), undefined, false],
    ['only an earlier window holds candles', at(end + 30 * DAY), before, false],
    ['a later window holds candles, file made half way through', at(end - 3 * DAY), after, false],
    ['a later window holds candles, file made at its end', at(end), after, false],
    ['a later window holds candles, file made 23 h 59 min after its end', at(end + DAY - MINUTE), after, false],
    ['a later window holds candles, file made a day after its end', at(end + DAY), after, true],
    ['a much later window holds candles, file made long after', at(end + 900 * DAY), '2039-12-26', true],
  ])('%s', (_, mtime, later, expected) => {
    expect(finalOf('15m', startDate, [], mtime, later)).toBe(expected)
    expect(finalOf('15m', startDate, ['2025-01-08T00:00Z'], mtime, later)).toBe(expected)
  })
})

it('the other windows are not looked at when the rows or the time of the file decide', () => {
  const window = { symbol: 'BTCUSDT', interval: '15m', startDate: '2025-01-06' } as const
  const lastPopulated = () => {
    throw new Error('looked')
  }
  const full = decodeWindow(windowBytes([candle(Date.parse('2025-01-12T23:45Z'))]), window)
  const empty = decodeWindow(windowBytes([]), window)
  expect(isFinal(window, full, { mtimeMs: 0, lastPopulated })).toBe(true)
  expect(isFinal(window, empty, { mtimeMs: Date.parse('2025-01-09'), lastPopulated })).toBe(false)
})
