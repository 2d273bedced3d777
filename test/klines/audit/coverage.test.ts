import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureCoverage } from '../../../src/klines/audit/coverage.js'
import { CandleGrid } from '../../../src/klines/resample/candle-grid.js'
import { parseTargetInterval } from '../../../src/klines/resample/target-interval.js'
import { cases } from '../../support/cases.js'
import { requested } from '../../support/requested.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const at = (text: string) => Date.parse(text.includes('T') ? `${text}Z` : text)

/** When candles open: enumerated, not computed as the grid does. */
const OPEN_TIMES: Record<string, number[]> = {
  '1h': times(HOUR, at('2024-01-01')),
  '3h': times(3 * HOUR, at('2024-01-01')),
  '1d': times(DAY, at('2024-01-01')),
  '1w': times(7 * DAY, at('2024-01-01')),
  '1M': Array.from({ length: 40 }, (_, month) => Date.UTC(2024, month, 1)),
  '1q': Array.from({ length: 40 }, (_, quarter) => Date.UTC(2024, 3 * quarter, 1)),
}

function times(step: number, start: number): number[] {
  return Array.from({ length: 40 }, (_, index) => start + index * step)
}

describe('coverage', () => {
  it('counts the closed candles after the last one', () => {
    const [from, to] = [at('2025-11-23T10:14'), at('2026-11-23T10:14')]
    const coverage = measureCoverage({
      interval: '1h',
      grid: new CandleGrid(parseTargetInterval('1h'), 'BTCUSDT'),
      range: requested(from, to, to),
      span: { startTime: at('2025-11-23T11:00'), endTime: at('2026-04-30T04:00') },
      seriesStart: at('2017-08-17'),
    })
    expect(coverage).toEqual({
      interval: '1h',
      requested: { from, to },
      first: at('2025-11-23T11:00'),
      last: at('2026-04-30T03:00'),
      shortAtStart: 0,
      shortAtEnd: 4_974,
      shortFrom: at('2026-04-30T04:00'),
    })
  })

  it('is what enumerating all candles finds', () => {
    const place = fc.nat({ max: 38 })
    const moment = fc.tuple(place, fc.constantFrom(0, 1, 0.5))
    const property = fc.property(
      fc.constantFrom(...Object.keys(OPEN_TIMES)),
      ...([place, place, fc.option(place), fc.option(moment), fc.option(moment), moment] as const),
      (interval, one, other, listed, start, end, present) => {
        const opens = OPEN_TIMES[interval]
        const time = (moment: readonly [number, number] | null) => {
          if (moment === null) return undefined
          const [index, part] = moment
          return opens[index] + (part === 1 ? 1 : Math.floor(part * (opens[index + 1] - opens[index])))
        }
        const [first, last] = [Math.min(one, other), Math.max(one, other)]
        const earliest = listed === null ? undefined : opens[Math.min(listed, first)]
        const [from = -Infinity, to = Infinity, now = 0] = [time(start), time(end), time(present)]
        // The candles are those of the range.
        fc.pre(from <= opens[first] && to > opens[last])
        const { shortAtStart, shortAtEnd, ...rest } = measureCoverage({
          interval,
          grid: new CandleGrid(parseTargetInterval(interval), 'BTCUSDT'),
          range: requested(from, to, now),
          span: { startTime: opens[first], endTime: opens[last + 1] },
          seriesStart: earliest,
        })
        expect([rest.first, rest.last]).toEqual([opens[first], opens[last]])
        const before = opens.slice(0, first).filter(open => earliest !== undefined && open >= earliest && open >= from)
        expect(shortAtStart).toBe(from === -Infinity ? 0 : before.length)
        const after = opens.slice(0, -1).filter((open, index) => index > last && open < to && opens[index + 1] <= now)
        expect(shortAtEnd).toBe(to === Infinity ? 0 : after.length)
      },
    )
    fc.assert(property, { numRuns: cases(2000, 200) })
  })

  it.each([
    // The day of 3 January has candles from 05:00 on, and that of 6 January until 07:00.
    ['whole candles alone', false, undefined, '2017-08-17', ['2024-01-04', '2024-01-05'], [3, 2]],
    ['candles in part, too', true, undefined, '2017-08-17', ['2024-01-03', '2024-01-06'], [2, 1]],
    [
      'the first one as whole where its first parts are a gap',
      false,
      '2024',
      '2017',
      ['2024-01-03', '2024-01-05'],
      [2, 2],
    ],
    [
      'none before the first one of the series',
      false,
      '2024',
      '2024-01-03T05:00',
      ['2024-01-03', '2024-01-05'],
      [0, 2],
    ],
  ])('of resampled candles counts %s', (_, partial, covered, earliest, ends, counts) => {
    const coverage = measureCoverage({
      interval: '1d',
      grid: new CandleGrid(parseTargetInterval('1d'), 'BTCUSDT'),
      range: requested(at('2024-01-01'), at('2024-01-08'), at('2024-02-01')),
      span: { startTime: at('2024-01-03T05:00'), endTime: at('2024-01-06T07:00') },
      seriesStart: at(earliest),
      coveredFrom: covered === undefined ? undefined : at(covered),
      partial,
    })
    expect([coverage.first, coverage.last]).toEqual(ends.map(at))
    expect([coverage.shortAtStart, coverage.shortAtEnd]).toEqual(counts)
  })

  it('begins within the range, also where a longer candle begins before it', () => {
    const coverage = measureCoverage({
      interval: '1w',
      grid: new CandleGrid(parseTargetInterval('1w'), 'BTCUSDT'),
      range: requested(at('2017-08-18'), Infinity, at('2026-01-01')),
      span: { startTime: at('2017-08-18'), endTime: at('2017-09-04') },
      seriesStart: at('2017-08-17'),
      partial: true,
    })
    expect([coverage.first, coverage.last, coverage.shortAtStart]).toEqual([at('2017-08-21'), at('2017-08-28'), 0])
  })

  it.each([
    ['all since the first one of the series', '2023-01-01', 3 * 24],
    ['none before the first one of the series', '2024-01-04', 0],
  ])('without a candle counts %s', (_, seriesStart, missing) => {
    const { first, last, shortAtStart, shortAtEnd } = measureCoverage({
      interval: '1h',
      grid: new CandleGrid(parseTargetInterval('1h'), 'BTCUSDT'),
      range: requested(at('2024-01-01'), at('2024-01-04'), at('2024-02-01')),
      span: undefined,
      seriesStart: at(seriesStart),
    })
    expect({ first, last, shortAtStart, shortAtEnd }).toEqual({
      ...{ first: undefined, last: undefined },
      ...{ shortAtStart: 0, shortAtEnd: missing },
    })
  })
})
