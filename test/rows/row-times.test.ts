import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { startDateAt } from '../../src/candles/windows.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { nextOpenTime } from '../support/oracles/window-oracle.js'
import { thrownBy } from '../support/thrown-by.js'
import { sampleRow, toJsonBytes } from '../support/windows.js'

const time = (text: string) => Date.parse(text)

type Times = readonly [openTime: number, closeTime: number]

/** The fault of a window with rows of these times. */
function faultOf(interval: Interval, times: readonly Times[], anchor?: number) {
  const rows = times.map(([openTime, closeTime]) => sampleRow(openTime, { 6: closeTime }))
  const window = { symbol: 'BTCUSDT', interval, startDate: startDateAt(interval, times[0][0]) }
  const decode = () => decodeWindow(toJsonBytes(rows), window, anchor)
  try {
    decode()
    return undefined
  } catch {
    return thrownBy(decode).data as { row?: number; element?: number; what?: string }
  }
}

/** The fault of a candle that closes at the last millisecond of its interval. */
function findFault(interval: Interval, opens: string, anchor?: string): string | undefined {
  const openTime = time(opens)
  const closeTime = nextOpenTime(interval, openTime) - 1
  return faultOf(interval, [[openTime, closeTime]], anchor === undefined ? undefined : time(anchor))?.what
}

describe('a candle opens on the grid of its series', () => {
  it.each<[Interval, string, string, string]>([
    ['1m', '2024-01-01T00:01Z', '2024-01-01T00:01:01Z', '2024-01-01T00:01:00.000Z'],
    ['15m', '2024-12-30T00:15Z', '2024-12-30T00:20Z', '2024-12-30T00:15:00.000Z'],
    ['1h', '2023-03-24T13:00Z', '2023-03-24T13:30Z', '2023-03-24T13:00:00.000Z'],
    ['6h', '2019-08-17T18:00Z', '2019-08-17T16:00Z', '2019-08-17T12:00:00.000Z'],
    ['1d', '2018-03-01', '2018-03-01T12:00Z', '2018-03-01T00:00:00.000Z'],
    ['1w', '2018-03-05', '2018-03-01', '2018-02-26T00:00:00.000Z'],
    ['1w', '2019-12-30', '2020-01-01', '2019-12-30T00:00:00.000Z'],
    ['1M', '2024-02-01', '2024-02-29', '2024-02-01T00:00:00.000Z'],
    ['1M', '2018-03-01', '2018-03-01T00:00:00.001Z', '2018-03-01T00:00:00.000Z'],
    ['3d', '2024-02-01', '2024-02-01T12:00Z', '2024-02-01T00:00:00.000Z'],
  ])('%s: %s does, %s does not', (interval, on, off, other) => {
    expect(findFault(interval, on)).toBeUndefined()
    expect(findFault(interval, off)).toBe(
      `${new Date(off).toISOString()} is not on the grid of its series, where a candle opens at ${other}`,
    )
  })

  it('3d: is counted from any candle that is known, before it too', () => {
    expect(findFault('3d', '2020-08-11', '2020-08-14')).toBeUndefined()
    expect(findFault('3d', '2020-08-17', '2020-08-11')).toBeUndefined()
    expect(findFault('3d', '2020-08-18', '2020-08-11')).toBe(
      '2020-08-18T00:00:00.000Z is not on the grid of its series, where a candle opens at 2020-08-17T00:00:00.000Z',
    )
  })

  it('3d: a candle off midnight, as there may be before March 2018, sets no grid', () => {
    expect(findFault('3d', '2018-03-02', '2018-02-09T09:28:14.789Z')).toBeUndefined()
    const opens = ['2018-02-09T09:28:14.789Z', '2018-03-02', '2018-03-04'].map(time)
    expect(
      faultOf(
        '3d',
        opens.map(openTime => [openTime, openTime]),
      )?.row,
    ).toBe(2)
  })
})

it.each<[Interval, string, string]>([
  ['15m', '2024-12-30T00:15Z', '2024-12-30T00:29:59.999Z'],
  ['1h', '2024-02-29T23:00Z', '2024-02-29T23:59:59.999Z'],
  ['3d', '2020-08-11', '2020-08-13T23:59:59.999Z'],
  ['1w', '2019-12-30', '2020-01-05T23:59:59.999Z'],
  ['1M', '2024-02-01', '2024-02-29T23:59:59.999Z'],
  ['1M', '2023-12-01', '2023-12-31T23:59:59.999Z'],
  // Off the grid, a candle is as long as any other.
  ['1h', '2018-02-09T09:28:14.789Z', '2018-02-09T10:28:14.788Z'],
])(
  'a candle closes from its open time to the last millisecond of its interval %s: the one that opens at %s at %s at the latest',
  (interval, opens, lastClose) => {
    const find = (closeTime: number) => faultOf(interval, [[time(opens), closeTime]])
    for (const closeTime of [time(opens), time(opens) + 1, time(lastClose)]) expect(find(closeTime)).toBeUndefined()
    const [before, after] = [time(opens) - 1, time(lastClose) + 1].map(ms => new Date(ms).toISOString())
    expect(find(time(before))).toMatchObject({
      element: 6,
      what: `${before} is before the open time, ${new Date(opens).toISOString()}`,
    })
    expect(find(time(after))).toMatchObject({
      element: 6,
      what: `${after} is after the end of the candle, ${lastClose}`,
    })
  },
)
