import { describe, expect, it } from 'vitest'
import { coverRange, describeLacks, type SeriesBeginning } from '../../src/rows/coverage.js'
import { parseTargetInterval } from '../../src/rows/target-interval.js'
import { requested } from '../support/requested.js'

const SERIES = { symbol: 'BTCUSDT', interval: '1h' } as const
const at = (text: string) => Date.parse(`${text}Z`)

/** The outage of February 2018: no candle from 8 February, 01:00, to 9 February, 09:00. */
function cover(from: string, to: string, first: string, last: string, seriesStart: string) {
  const { shortAtStart, shortAtEnd } = coverRange(
    { series: SERIES },
    requested(at(from), at(to), at('2018-04-01T00:00')),
    { firstOpenTime: at(first), lastOpenTime: at(last) },
    { rules: { kind: 'static' }, begin: at(seriesStart) },
  )
  return [shortAtStart, shortAtEnd]
}

it.each([
  ['where the series has earlier ones', '2017-08-17T04:00', 29],
  ['and none before its first one', '2018-02-09T09:00', 0],
])('a range that begins or ends within an outage lacks its candles %s', (_, seriesStart, atStart) => {
  const beginning = cover('2018-02-08T04:00', '2018-02-12T00:00', '2018-02-09T09:00', '2018-02-11T23:00', seriesStart)
  expect(beginning).toEqual([atStart, 0])
  const ending = cover('2018-02-05T00:00', '2018-02-09T05:00', '2018-02-05T00:00', '2018-02-08T00:00', seriesStart)
  expect(ending).toEqual([0, 28])
})

describe('an end that moves with the present tolerates', () => {
  it.each([
    ['a first missing candle that ended 48 hours ago', 'static', '2022-02-01T01:00', true, 0],
    ['none that ended before', 'static', '2022-02-01T01:01', true, 49],
    ['two candles of the exchange', 'exchange', '2022-01-30T02:59', true, 0],
    ['no third one', 'exchange', '2022-01-30T03:00', true, 3],
    ['nothing where it is a fixed time', 'static', '2022-01-30T01:00', false, 1],
  ] as const)('%s', (_, kind, now, endMoves, short) => {
    const range = { ...requested(at('2022-01-01T00:00'), at(now), at(now)), endMoves }
    const ends = { firstOpenTime: range.fromTime, lastOpenTime: at('2022-01-29T23:00') }
    expect(coverRange({ series: SERIES }, range, ends, { rules: { kind } })).toMatchObject({
      shortAtStart: 0,
      shortAtEnd: short,
    })
  })
})

describe('a range that begins before the first candle', () => {
  const LIST = { from: '2022-01-01', why: 'the 1h list of https://klines.example begins 2022-01-01' }
  const windowsFrom = (...dates: string[]) =>
    dates.map(startDate => ({ symbol: 'BTCUSDT', interval: '1h', startDate }) as const)
  const JANUARY = windowsFrom('2022-01-01')
  /** From 2021-12-01 to 2022-02-01, of a series whose last candle is there. */
  const coverFrom = (
    first: string | undefined,
    beginning: Partial<SeriesBeginning>,
    interval = '1h',
    windows = JANUARY,
  ) =>
    coverRange(
      {
        series: SERIES,
        resampleTo: interval === '1h' ? undefined : parseTargetInterval(interval),
        windows,
      },
      requested(at('2021-12-01T00:00'), at('2022-02-01T00:00'), at('2023-01-01T00:00')),
      { firstOpenTime: first && at(first), lastOpenTime: first && at('2022-01-31T23:00') } as Parameters<
        typeof coverRange
      >[2],
      { rules: { kind: 'static' }, ...beginning },
    )
  const DECEMBER = 31 * 24

  it.each<[string, string, string[], number]>([
    ['lacks nothing where the windows before it are empty', '2022-01-10T05:00', ['2021-12-01', '2022-01-01'], 0],
    ['lacks what is before the first window', '2022-01-10T05:00', ['2022-01-01'], DECEMBER],
    ['lacks all when the series has earlier ones', '2021-11-01T00:00', ['2022-01-01'], DECEMBER + 9 * 24 + 5],
  ])('%s', (_, begin, dates, short) => {
    const windows = windowsFrom(...dates)
    expect(coverFrom('2022-01-10T05:00', { begin: at(begin) }, '1h', windows).shortAtStart).toBe(short)
    const ofExchange = { begin: at(begin), rules: { kind: 'exchange' } } as const
    const isEarlier = begin < '2022'
    expect(coverFrom('2022-01-10T05:00', ofExchange, '1h', windows).shortAtStart).toBe(isEarlier ? short : 0)
  })

  it('lacks all of it without a candle, but what is empty', () => {
    const later = { begin: at('2022-03-01T00:00'), list: LIST }
    expect(coverFrom(undefined, later)).toMatchObject({ first: undefined, shortAtStart: 0, shortAtEnd: DECEMBER })
    expect(coverFrom(undefined, {}).shortAtEnd).toBe(62 * 24)
  })

  it('has no longer candle that is covered in part', () => {
    const first = '2022-01-01T00:00'
    const { first: openTime, shortAtStart } = coverFrom(first, { begin: at(first), list: LIST }, '1w')
    expect([openTime, shortAtStart]).toEqual([at('2022-01-03T00:00'), 4])
  })

  it('says which list begins too late', () => {
    const series = { ...SERIES, coverage: coverFrom('2022-01-01T00:00', { begin: at('2022-01-01T00:00'), list: LIST }) }
    const short = `744 short at the start (${LIST.why})`
    expect(describeLacks(series)).toBe(`candles from 2022-01-01 00:00 to 2022-01-31 23:00: ${short}`)
    expect(describeLacks({ ...series, gaps: 1, missing: 3 }, true)).toBe(`${short}; 3 candles missing in 1 gap`)
  })
})
