import type { WindowSpan } from '../candles/windows.js'

/** Adds a span to ascending ones. Spans that touch become one. */
export function addSpan(spans: WindowSpan[], { startTime, endTime }: WindowSpan): void {
  const last = spans.at(-1)
  if (last === undefined || startTime > last.endTime) spans.push({ startTime, endTime })
  else if (endTime > last.endTime) spans[spans.length - 1] = { startTime: last.startTime, endTime }
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

export function without(spans: readonly WindowSpan[], holes: readonly WindowSpan[]): WindowSpan[] {
  const starts = [-Infinity, ...holes.map(({ endTime }) => endTime)]
  const ends = [...holes.map(({ startTime }) => startTime), Infinity]
  const between = starts.map((startTime, index) => ({ startTime, endTime: ends[index] }))
  return overlaps(spans, between)
}

export function lengthOf(spans: readonly WindowSpan[]): number {
  return spans.reduce((sum, { startTime, endTime }) => sum + endTime - startTime, 0)
}
