import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INTERVALS } from '../../src/candles/intervals.js'
import { planWindows } from '../../src/candles/time-range.js'
import { knownStartDates } from '../../src/candles/windows.js'

const DAY = 86_400_000
const SYMBOL = 'BTCUSDT'

const toDate = (time: number) => new Date(time).toISOString().slice(0, 10)

const cases = fc
  .record({ interval: fc.constantFrom(...INTERVALS), count: fc.integer({ min: 1, max: 60 }) })
  .chain(({ interval, count }) => {
    const bounds = knownStartDates(interval)
      .slice(0, count + 1)
      .map(date => Date.parse(date))
    const time = fc.oneof(
      fc.constantFrom(...bounds, ...bounds.map(bound => bound - 1), ...bounds.map(bound => bound + 1)),
      fc.integer({ min: bounds[0] - 30 * DAY, max: (bounds.at(-1) as number) + 30 * DAY }),
    )
    return fc.record({
      interval: fc.constant(interval),
      bounds: fc.constant(bounds),
      ends: fc.tuple(fc.option(time, { nil: -Infinity }), fc.option(time, { nil: Infinity })),
      horizon: time,
    })
  })
  .map(({ ends: [a, b], ...rest }) => {
    return { ...rest, range: { fromTime: Math.min(a, b), toTime: Math.max(a, b) } }
  })

describe('the planned windows', () => {
  it('are exactly those that have started and overlap the range', () => {
    fc.assert(
      fc.property(cases, ({ interval, bounds, range, horizon }) => {
        const planned = planWindows({ symbol: SYMBOL, interval }, bounds.slice(0, -1).map(toDate), range, horizon)
        const { fromTime, toTime } = range
        const expected = bounds.slice(0, -1).filter((start, i) => {
          const [first, end] = [Math.max(start, fromTime), Math.min(bounds[i + 1], toTime)]
          return first < end && start <= horizon
        })
        // The planner never receives an empty range; its result for one is not specified.
        fc.pre(range.fromTime === undefined || range.fromTime !== range.toTime)
        expect(planned).toEqual(expected.map(start => ({ symbol: SYMBOL, interval, startDate: toDate(start) })))
      }),
      { numRuns: 500 },
    )
  })

  const dates = ['2025-01-06', '2025-01-13', '2025-01-20']
  it.each<[string, string | undefined, string | undefined, string, string[], string[]?]>([
    [
      'listed twice, in another order',
      undefined,
      '2025-01-20',
      '2025-02-01',
      dates.slice(0, 2),
      [...dates.toReversed(), ...dates],
    ],
    ['no range', undefined, undefined, '2025-02-01', dates],
    ['the end is a window start: half-open', '2025-01-06', '2025-01-13', '2025-02-01', ['2025-01-06']],
    ['the end is 1 ms later', '2025-01-06', '2025-01-13T00:00:00.001Z', '2025-02-01', dates.slice(0, 2)],
    ['the start is the last instant of a window', '2025-01-12T23:59:59.999Z', undefined, '2025-02-01', dates],
    ['the start is a window start', '2025-01-13', undefined, '2025-02-01', dates.slice(1)],
    ['the present is a window start', undefined, undefined, '2025-01-13', dates.slice(0, 2)],
    ['the present is 1 ms before it', undefined, undefined, '2025-01-12T23:59:59.999Z', ['2025-01-06']],
    ['before all windows', '2024-01-01', '2025-01-06', '2025-02-01', []],
    ['after all windows', '2025-01-27', '2026-01-01', '2026-02-01', []],
    ['all in the future', undefined, undefined, '2025-01-01', []],
  ])('when %s', (_, from, to, now, expected, listed = dates) => {
    const range = { fromTime: from ? Date.parse(from) : -Infinity, toTime: to ? Date.parse(to) : Infinity }
    const planned = planWindows({ symbol: SYMBOL, interval: '15m' }, listed, range, Date.parse(now))
    expect(planned.map(({ startDate }) => startDate)).toEqual(expected)
  })
})
