import { describe, expect, it } from 'vitest'
import { decodeWindow } from '../../src/klines/batch/window-codec.js'
import type { Interval } from '../../src/klines/intervals.js'
import { STATIC_TREE } from '../../src/trees/find-rules.js'
import { candle, windowBytes } from '../support/synthetic-tree.js'

const MINUTE = 60_000
const DAY = 86_400_000

/** Whether a window with a candle at each time is final; `later` is the last startDate with candles. */
function isFinalWith(interval: Interval, startDate: string, times: readonly string[], mtime: string, later?: string) {
  const window = { symbol: 'BTCUSDT', interval, startDate } as const
  const batch = decodeWindow(windowBytes(times.map(time => candle(Date.parse(time)))), window)
  const time = Date.parse(mtime)
  return STATIC_TREE.isFinal(window, batch, { time, confirmed: time }, () => (later ?? '') > startDate)
}

describe('a window is final when its last candle reaches its end, at any modification time', () => {
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
      expect(isFinalWith(interval, startDate, [last], mtime)).toBe(true)
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
      expect(isFinalWith(interval, startDate, [last], mtime)).toBe(false)
      expect(isFinalWith(interval, startDate, [last], mtime, startDate)).toBe(false)
    }
  })
})

describe('an empty or partial window is final only when a later one has candles and the file was rendered a day after its end', () => {
  const startDate = '2025-01-06'
  const end = Date.parse('2025-01-13')
  const iso = (time: number) => new Date(time).toISOString()
  const [before, after] = ['2024-12-30', '2025-01-13']

  it.each<[string, string, string | undefined, boolean]>([
    ['no other window cached, old file', iso(end - DAY), undefined, false],
    ['no other window cached, new file', iso(end + 30 * DAY), undefined, false],
    ['only an earlier window has candles', iso(end + 30 * DAY), before, false],
    ['a later window has candles, file rendered half way through', iso(end - 3 * DAY), after, false],
    ['a later window has candles, file rendered at its end', iso(end), after, false],
    ['a later window has candles, file rendered 23 h 59 min after its end', iso(end + DAY - MINUTE), after, false],
    ['a later window has candles, file rendered a day after its end', iso(end + DAY), after, true],
    ['a much later window has candles, file rendered long after', iso(end + 900 * DAY), '2039-12-26', true],
  ])('%s', (_, mtime, later, expected) => {
    expect(isFinalWith('15m', startDate, [], mtime, later)).toBe(expected)
    expect(isFinalWith('15m', startDate, ['2025-01-08T00:00Z'], mtime, later)).toBe(expected)
  })
})

it('other windows are not searched when the rows or the time of the file decide', () => {
  const window = { symbol: 'BTCUSDT', interval: '15m', startDate: '2025-01-06' } as const
  const lastPopulated = () => {
    throw new Error('searched')
  }
  const full = decodeWindow(windowBytes([candle(Date.parse('2025-01-12T23:45Z'))]), window)
  const empty = decodeWindow(windowBytes([]), window)
  const early = Date.parse('2025-01-09')
  expect(STATIC_TREE.isFinal(window, full, { time: 0, confirmed: 0 }, lastPopulated)).toBe(true)
  expect(STATIC_TREE.isFinal(window, empty, { time: early, confirmed: early }, lastPopulated)).toBe(false)
})
