import type { TimeRange } from '../time-range.js'
import type { WindowSpan } from '../windows.js'

/** Spans of time in ascending order; adjacent ones become one. */
export class TimeSpans {
  private readonly spans: { startTime: number; endTime: number }[] = []

  /** Adds a span that starts where the last one ends, or later. */
  add({ startTime, endTime }: WindowSpan): void {
    const last = this.spans.at(-1)
    if (last?.endTime === startTime) last.endTime = endTime
    else this.spans.push({ startTime, endTime })
  }

  /** The spans as far as they lie in a range. */
  within({ fromTime, toTime }: TimeRange): WindowSpan[] {
    return overlaps(this.spans, [{ startTime: fromTime, endTime: toTime }])
  }
}

/** The time that spans cover together; they come in order of their starts. */
export function union(spans: readonly WindowSpan[]): WindowSpan[] {
  const covered: { startTime: number; endTime: number }[] = []
  for (const { startTime, endTime } of spans) {
    const last = covered.at(-1)
    if (last && startTime <= last.endTime) last.endTime = Math.max(last.endTime, endTime)
    else covered.push({ startTime, endTime })
  }
  return covered
}

/** The spans that two ascending lists have in common. */
export function overlaps(spans: readonly WindowSpan[], others: readonly WindowSpan[]): WindowSpan[] {
  const common: WindowSpan[] = []
  for (let [index, other] = [0, 0]; index < spans.length && other < others.length; ) {
    const startTime = Math.max(spans[index].startTime, others[other].startTime)
    const endTime = Math.min(spans[index].endTime, others[other].endTime)
    if (startTime < endTime) common.push({ startTime, endTime })
    if (spans[index].endTime === endTime) index++
    else other++
  }
  return common
}
