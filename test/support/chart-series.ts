import type { ChartCandle, FittedCandles, Slot } from '../../src/chart/candle-fitter.js'

const DAY = 86_400_000

/** A candle of `zigzag` in whole numbers. */
export interface Prices {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** Daily candles from Monday, 2024-01-01, as the fitter returns them; undefined is a missing candle. */
export function daily(days: readonly (Prices | undefined)[], startTime = Date.UTC(2024, 0, 1)): FittedCandles {
  const slots = days.map((prices, day): Slot => {
    const openTime = startTime + day * DAY
    return { openTime, candle: prices && toCandle(openTime, prices) }
  })
  const candles = slots.filter(({ candle }) => candle !== undefined).length
  return {
    series: { symbol: 'BTCUSDT', interval: '1d' },
    interval: '1d',
    resampledFrom: undefined,
    slots,
    candles,
    missing: slots.length - candles,
    firstTime: slots[0].openTime,
    lastTime: slots[slots.length - 1].openTime,
  }
}

function toCandle(openTime: number, { open, high, low, close, volume }: Prices): ChartCandle {
  const text = (price: number) => `${price}.00000000`
  return { openTime, open: text(open), high: text(high), low: text(low), close: text(close), volume: text(volume) }
}

/**
 * 40 days between 0 and 32, in whole numbers, so that a reader can check a chart by hand. Day 0 to 19 rise: open `day + 4`,
 * close 3 higher, high 5 and low -2 from the open. Day 20 to 39 fall the same way back: open `46 - day`, close 3 lower, high 2
 * and low -5 from the open. Day 0 reaches down to 0 and day 19 up to 32; day 10 is missing. The volume is 1 to 24, then again.
 */
export function zigzag(): FittedCandles {
  return daily(
    Array.from({ length: 40 }, (_, day) => {
      if (day === 10) return undefined
      const rises = day < 20
      const open = rises ? day + 4 : 46 - day
      const high = day === 19 ? 32 : open + (rises ? 5 : 2)
      const low = day === 0 ? 0 : open - (rises ? 2 : 5)
      return { open, high, low, close: open + (rises ? 3 : -3), volume: (day % 24) + 1 }
    }),
  )
}
