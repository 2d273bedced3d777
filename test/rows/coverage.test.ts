import { describe, expect, it } from 'vitest'
import { coverRange } from '../../src/rows/coverage.js'
import { requested } from '../support/requested.js'

const SERIES = { symbol: 'BTCUSDT', interval: '1h' } as const
const at = (text: string) => Date.parse(`${text}Z`)

/** The outage of February 2018: no candle from 8 February, 01:00, to 9 February, 09:00. */
function cover(from: string, to: string, first: string, last: string, seriesStart: string) {
  const { shortAtStart, shortAtEnd } = coverRange(
    { series: SERIES, label: SERIES },
    requested(at(from), at(to), at('2018-04-01T00:00')),
    { firstOpenTime: at(first), lastOpenTime: at(last) },
    { rules: { kind: 'static' }, begin: at(seriesStart) },
  )
  return [shortAtStart, shortAtEnd]
}

describe('a range that begins or ends within an outage lacks its candles', () => {
  it.each([
    ['where the series has earlier ones', '2017-08-17T04:00', 29],
    ['and none before its first one', '2018-02-09T09:00', 0],
  ])('%s', (_, seriesStart, atStart) => {
    const beginning = cover('2018-02-08T04:00', '2018-02-12T00:00', '2018-02-09T09:00', '2018-02-11T23:00', seriesStart)
    expect(beginning).toEqual([atStart, 0])
    const ending = cover('2018-02-05T00:00', '2018-02-09T05:00', '2018-02-05T00:00', '2018-02-08T00:00', seriesStart)
    expect(ending).toEqual([0, 28])
  })
})
