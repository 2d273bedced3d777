import { describe, expect, it } from 'vitest'
import { coverSeries } from '../../src/engine/coverage.js'
import { requested } from '../support/requested.js'

const SERIES = { symbol: 'BTCUSDT', interval: '1h' } as const
const at = (text: string) => Date.parse(`${text}Z`)

/** The outage of February 2018: no candle from 8 February, 01:00, to 9 February, 09:00. */
function cover(from: string, to: string, first: string, last: string, isComplete: boolean) {
  const { shortAtStart, shortAtEnd } = coverSeries(
    SERIES,
    requested(at(from), at(to), at('2018-04-01T00:00')),
    { firstOpenTime: at(first), lastOpenTime: at(last) },
    {
      listing: { earliest: at('2017-08-17T04:00'), isFirst: true },
      source: { hasAllCandles: () => isComplete },
      windows: [{ ...SERIES, startDate: '2018-02-01' }],
    },
  )
  return [shortAtStart, shortAtEnd]
}

describe('a range that begins or ends within an outage', () => {
  it.each([
    ['lacks its candles, where nothing says that there are none', false, 29, 28],
    ['lacks nothing, where the source says that there are no others', true, 0, 0],
  ])('%s', (_, isComplete, atStart, atEnd) => {
    const beginning = cover('2018-02-08T04:00', '2018-02-12T00:00', '2018-02-09T09:00', '2018-02-11T23:00', isComplete)
    expect(beginning).toEqual([atStart, 0])
    const ending = cover('2018-02-05T00:00', '2018-02-09T05:00', '2018-02-05T00:00', '2018-02-08T00:00', isComplete)
    expect(ending).toEqual([0, atEnd])
  })
})
