import { describe, expect, it } from 'vitest'
import { findGaps } from '../../../src/klines/audit/gaps.js'
import { INTERVALS, nextOpenTime } from '../../../src/klines/intervals.js'
import { buildSeriesGrid } from '../../../src/klines/resample/candle-grid.js'
import { countDecimals, missingWindow, parseWindow } from '../../../src/server/viewer/chart/data/candle-window.js'
import { Timeline } from '../../../src/server/viewer/chart/data/timeline.js'
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
    for (let round = 0; round < 40; round++) {
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
        interval,
        windows.map(({ startTime, endTime, openTimes }) =>
          openTimes ? parseWindow(startTime, endTime, windowText(openTimes)) : missingWindow(startTime, endTime),
        ),
      )
      const times = windows.flatMap(({ openTimes = [] }) => openTimes)
      const spans: { startTime: number; endTime: number }[] = []
      for (const { startTime, endTime, openTimes } of windows) {
        if (!openTimes) continue
        if (spans.at(-1)?.endTime === startTime) spans.at(-1)!.endTime = endTime
        else spans.push({ startTime, endTime })
      }
      const grid = buildSeriesGrid({ symbol: 'XXXUSDT', interval }, times[0])
      const gaps = times.slice(1).flatMap((time, index) => findGaps(interval, grid, spans, times[index], time))
      expect(timeline.missing).toBe(gaps.reduce((sum, { missing }) => sum + missing, 0))
      expect(timeline.candles).toBe(times.length)
      const places = timeline.places.map((_, index) => timeline.openTime(index))
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
      expect(places).toEqual(expect.arrayContaining(times))
      for (const time of times) expect(timeline.row(timeline.indexFrom(time))?.[0]).toBe(time)
    }
  })

  it.each([
    ['75780.10000000', 1],
    ['75780.00000000', 0],
    ['0.00000001', 8],
    ['5', 0],
    ['1.', 0],
  ])('the price %s uses %i decimals', (price, decimals) => {
    expect(countDecimals(price)).toBe(decimals)
  })
})
