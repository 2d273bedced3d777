import { describe, expect, it } from 'vitest'
import type { WindowRef } from '../../src/candles/series.js'
import { windowSpan } from '../../src/candles/windows.js'
import { candlesCall, firstCandleCall } from '../../src/sources/exchange-api.js'
import { SPOT } from '../support/exchange/spot.js'

const window = (text: string) => {
  const [symbol, interval, startDate] = text.split(' ')
  return { symbol, interval, startDate } as WindowRef
}

describe('the call for a window', () => {
  it.each([
    ['BTCUSDT 1h 2018-02-01', 1_517_443_200_000, 1_519_862_399_999],
    ['BTCUSDT 15m 2017-06-26', 1_498_435_200_000, 1_499_039_999_999],
    // 29 days in February.
    ['PEPEUSDT 1h 2024-02-01', 1_706_745_600_000, 1_709_251_199_999],
    ['1000SATSUSDT 1M 2010-01-01', 1_262_304_000_000, 1_893_455_999_999],
  ])('%s: from its first millisecond to its last, both inclusive, at most 1,000 rows', (text, startTime, endTime) => {
    const { symbol, interval } = window(text)
    const query = `symbol=${symbol}&interval=${interval}&startTime=${startTime}&endTime=${endTime}&limit=1000`
    expect(candlesCall(SPOT, window(text), windowSpan(window(text)))).toBe(`api/v3/klines?${query}`)
  })

  it('has a name of any script as a part of a URL', () => {
    const named = window('币U 1h 2024-02-01')
    expect(candlesCall(SPOT, named, windowSpan(named))).toContain('?symbol=%E5%B8%81U&interval=1h&')
  })
})

it('the call for the first candle asks for one row from the beginning of time', () => {
  expect(firstCandleCall(SPOT, { symbol: 'BTCUSDT', interval: '3d' })).toBe(
    'api/v3/klines?symbol=BTCUSDT&interval=3d&startTime=0&limit=1',
  )
})
