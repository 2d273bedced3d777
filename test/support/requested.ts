import { formatRange, type RequestedRange } from '../../src/candles/time-range.js'

/** A range whose ends are named as times, ms UTC; an infinite one is not named. */
export function requested(fromTime: number, toTime: number, now = Date.now()): RequestedRange {
  const named = (time: number) => (Number.isFinite(time) ? time : undefined)
  const text = formatRange({ fromTime, toTime })
  return { fromTime, toTime, named: { from: named(fromTime), to: named(toTime) }, endMoves: false, now, text }
}
