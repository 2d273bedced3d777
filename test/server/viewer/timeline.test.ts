import { describe, expect, it } from 'vitest'
import { INTERVALS, nextOpenTime } from '../../../src/candles/intervals.js'
import { buildSeriesGrid } from '../../../src/rows/candle-grid.js'
import { findGaps } from '../../../src/rows/gaps.js'
import { MAX_EMPTY_PLACES, parseWindow, Timeline } from '../../../src/server/viewer/timeline.js'
import { Random } from '../../support/random.js'

const START = Date.UTC(2018, 0, 1)

/** The text of a window file with candles at these open times, ms UTC. */
function windowText(openTimes: readonly number[]): string {
  return JSON.stringify(
    openTimes.map(time => [time, '1.50', '2.0', '1.250', '1.5', '3', time + 1, '4', 5, '1', '2', '0']),
  )
}

describe('the time axis of the chart', () => {
  it.each(INTERVALS)('%s: missing candles are counted as in an audit, and places ascend', interval => {
    const random = new Random(interval.length * 7)
    const series = { symbol: 'XXXUSDT', interval }
    for (let round = 0; round < 20; round++) {
      // Five windows of twelve steps, some of them missing; a third of the candles missing, some off the grid.
      const bounds = [START]
      const steps: number[] = [START]
      while (steps.length < 61) steps.push(nextOpenTime(interval, steps.at(-1)!))
      for (let window = 1; window <= 5; window++) bounds.push(steps[window * 12])
      const windows = bounds.slice(0, 5).map((startTime, index) => {
        const endTime = bounds[index + 1]
        if (random.below(4) === 0) return { startTime, endTime, openTimes: undefined }
        const openTimes = steps
          .slice(index * 12, index * 12 + 12)
          .filter(() => random.below(3) > 0)
          .map(time => (random.below(8) === 0 && interval !== '1M' ? time + 1 + random.below(800_000) : time))
        return { startTime, endTime, openTimes }
      })
      const timeline = new Timeline(
        series,
        windows.map(({ startTime, endTime, openTimes }) =>
          openTimes
            ? parseWindow({ startTime, endTime }, windowText(openTimes))
            : parseWindow({ startTime, endTime }, undefined),
        ),
      )
      const times = windows.flatMap(({ openTimes = [] }) => openTimes)
      const spans: { startTime: number; endTime: number }[] = []
      for (const { startTime, endTime, openTimes } of windows) {
        if (!openTimes) continue
        if (spans.at(-1)?.endTime === startTime) spans.at(-1)!.endTime = endTime
        else spans.push({ startTime, endTime })
      }
      const grid = buildSeriesGrid(series, times[0])
      const gaps = times.slice(1).flatMap((time, index) => findGaps(interval, grid, spans, times[index], time))
      expect(timeline.missing).toBe(gaps.reduce((sum, { missing }) => sum + missing, 0))
      expect(timeline.candles).toBe(times.length)
      const places = timeline.places.map((_, index) => timeline.openTime(index))
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
      expect(places).toEqual(expect.arrayContaining(times))
      for (const time of times) expect(timeline.row(timeline.indexFrom(time))?.[0]).toBe(time)
    }
  })

  describe('time without candles that is long', () => {
    const [MINUTE, DAY] = [60_000, 86_400_000]
    const series = { symbol: 'XXXUSDT', interval: '1m' } as const
    /** Days of 1m from `START` on, each with a candle a minute, without rows, or not in the mirror. */
    const timelineOf = (days: readonly ('full' | 'empty' | 'missing')[]) =>
      new Timeline(
        series,
        days.map((kind, day) => {
          const [startTime, endTime] = [START + day * DAY, START + (day + 1) * DAY]
          if (kind === 'missing') return parseWindow({ startTime, endTime }, undefined)
          const openTimes = Array.from(
            { length: kind === 'full' ? 1_440 : 0 },
            (_, minute) => startTime + minute * MINUTE,
          )
          return parseWindow({ startTime, endTime }, windowText(openTimes))
        }),
      )

    it.each([
      ['missing', 2, '2 days not in this mirror'],
      ['missing', 730, '730 days not in this mirror'],
      ['missing', 3_000, '3,000 days not in this mirror'],
      ['empty', 1, '1 day without candles'],
      ['empty', 3_000, '3,000 days without candles'],
    ] as const)('%s windows of %i days are a band of few places from its start to its end', (kind, length, label) => {
      const timeline = timelineOf(['full', ...Array<typeof kind>(length).fill(kind), 'full'])
      expect(timeline.length).toBe(2 * 1_440 + MAX_EMPTY_PLACES)
      const [from, to] = [1_440, 1_440 + MAX_EMPTY_PLACES - 1]
      const isMissing = kind === 'missing'
      expect(timeline.bands).toEqual([{ from, to, isMissing, steps: length * 1_440 }])
      expect(timeline.bandLabel(timeline.bands[0])).toBe(label)
      expect(timeline.missing).toBe(isMissing ? 0 : length * 1_440)
      expect(timeline.missingWindows).toBe(isMissing ? length : 0)
      expect(timeline.openTime(from)).toBe(START + DAY)
      for (const place of [from + 1, from + 250, to]) {
        const share = (place - from) / MAX_EMPTY_PLACES
        const time = timeline.openTime(place)
        expect(time % MINUTE).toBe(0)
        expect(Math.abs(time - (START + DAY + share * length * DAY))).toBeLessThan(MINUTE)
      }
      expect(timeline.openTime(to + 1)).toBe(START + (length + 1) * DAY)
    })

    it('windows that alternate between two candles share these places', () => {
      const between = Array.from({ length: 400 }, (_, day) =>
        day % 2 === 0 ? ('missing' as const) : ('empty' as const),
      )
      const timeline = timelineOf(['full', ...between, 'full'])
      expect(timeline.bands).toHaveLength(400)
      expect(timeline.length).toBe(2 * 1_440 + 400)
      expect(timeline.missing).toBe(200 * 1_440)
      expect(timeline.missingWindows).toBe(200)
    })

    it('the last candle among some places is found, also before a band', () => {
      const later = START + 4 * MINUTE
      const timeline = new Timeline(series, [
        parseWindow({ startTime: START, endTime: START + 30 * DAY }, windowText([START, later])),
      ])
      expect([0, 1, 3, 4].map(last => timeline.lastCandle(0, last))).toEqual([0, 0, 0, 4])
      expect(timeline.lastCandle(2, 3)).toBe(3)
    })

    it.each([
      [1, '1 minute without candles'],
      [45, '45 minutes without candles'],
      [60, '1 hour without candles'],
      [MAX_EMPTY_PLACES, '8 hours 20 minutes without candles'],
      [MAX_EMPTY_PLACES + 1, '8 hours 21 minutes without candles'],
    ])('%i missing candles: each has a place as long as there are enough', (missing, label) => {
      const later = START + (missing + 1) * MINUTE
      const timeline = new Timeline(series, [
        parseWindow({ startTime: START, endTime: START + 30 * DAY }, windowText([START, later])),
      ])
      expect(timeline.length).toBe(2 + Math.min(missing, MAX_EMPTY_PLACES))
      expect(timeline.missing).toBe(missing)
      expect(timeline.bandLabel(timeline.bands[0])).toBe(label)
    })
  })
})
